import { Option } from 'commander';

/** Loads the reader of an option's value, which needs a package. */
type LoadReader = () => Promise<(text: string) => unknown>;

export const durationReader: LoadReader = async () => (await import('./scalar-options.ts')).parseDuration;
export const localTimeReader: LoadReader = async () => (await import('./scalar-options.ts')).parseLocalTime;
const countryReader: LoadReader = async () => (await import('./country-option.ts')).parseCountry;
const timeZoneReader: LoadReader = async () => (await import('./time-zone-option.ts')).parseTimeZone;

/** An option whose reader is loaded only if the command line has the option: a package takes longer than a `--help`. */
export async function lateOption(
  words: readonly string[],
  flags: string,
  description: string,
  load: LoadReader,
): Promise<Option> {
  const option = new Option(flags, description);
  const { long } = option;
  const isGiven = words.some((word) => word === long || word.startsWith(`${long}=`));
  return isGiven ? option.argParser(await load()) : option;
}

export const countryOption = (words: readonly string[], description: string): Promise<Option> =>
  lateOption(words, '--country <country>', description, countryReader);

export const timeZoneOption = (words: readonly string[], description: string): Promise<Option> =>
  lateOption(words, '--time-zone <zone>', description, timeZoneReader);

/** @param what the zone of what; UTC by default */
export const utcZoneOption = async (words: readonly string[], what: string): Promise<Option> =>
  (await timeZoneOption(words, `${what}, such as Pacific/Auckland`)).default('UTC');
