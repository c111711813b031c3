import { flag, isShown, type OptionSpec, option } from './command.ts';
import { envFileOption } from './env-file-settings.ts';
import { loadTimeZoneReader } from './option-readers.ts';
import { notInListError } from './usage-errors.ts';

const colourChoices = ['auto', 'always', 'never'] as const;
type ColourChoice = (typeof colourChoices)[number];

/** The options of every command change these while the command line is parsed. */
export type ScreenSetters = {
  readonly setColour: (choice: ColourChoice) => void;
  readonly setZone: (zone: string) => void;
};

export const globalOptions = ({ setColour, setZone }: ScreenSetters): readonly OptionSpec[] => [
  option('--color <when>', `colours: ${colourChoices.join(', ')}; auto: on a terminal without NO_COLOR`, {
    default: 'auto',
    read: (text: string): ColourChoice => {
      const choice = colourChoices.find((each) => each === text);
      if (choice === undefined) throw notInListError(text, colourChoices);
      setColour(choice);
      return choice;
    },
  }),
  option('--time-zone <zone>', timeZoneSummary, { loadReader: zoneReader(setZone) }),
  option('--zone <zone>', timeZoneSummary, {
    loadReader: zoneReader(setZone),
    retired: '`--time-zone <zone>`',
  }),
  envFileOption,
];

const timeZoneSummary =
  "time zone of printed times (default: the terminal's) and of dates in options (default: UTC), such as Pacific/Auckland; JSON and CSV are UTC";

/** Reads the zone, and sets it. */
const zoneReader = (setZone: ScreenSetters['setZone']) => async () => {
  const parseTimeZone = await loadTimeZoneReader();
  return (text: string): string => {
    const zone = parseTimeZone(text);
    setZone(zone);
    return zone;
  };
};

/** What every command has, as help and reference show it. */
export const optionsOfAll: readonly OptionSpec[] = [
  flag('-V, --version', 'output the version number'),
  ...globalOptions({ setColour: () => undefined, setZone: () => undefined }).filter(isShown),
];
