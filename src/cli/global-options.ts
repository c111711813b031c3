import { Option } from 'commander';
import { type ColourChoice, colourChoices } from './colour.ts';
import { notInListError } from './usage-errors.ts';

/** The options of every command change these while the command line is parsed. */
export type ScreenSetters = {
  readonly setColour: (choice: ColourChoice) => void;
  readonly setZone: (zone: string) => void;
};

export async function zoneOption(
  words: readonly string[],
  setZone: ScreenSetters['setZone'],
): Promise<Option> {
  const isGiven = words.some((word) => word.startsWith('--zone'));
  // Loading the time zones takes as long as the rest of `--help`.
  const parse = isGiven ? (await import('./time-zone-option.ts')).parseTimeZone : undefined;
  return new Option(
    '--zone <zone>',
    "time zone of printed times, such as Pacific/Auckland (default: the terminal's (TZ), otherwise UTC); JSON and CSV are UTC",
  ).argParser((text) => {
    const zone = parse?.(text) ?? text;
    setZone(zone);
    return zone;
  });
}

export function colourOption(setColour: (choice: ColourChoice) => void): Option {
  const names = colourChoices.join(', ');
  return new Option('--color <when>', `colours: ${names}; auto: on a terminal, unless NO_COLOR is set`)
    .default('auto')
    .argParser((text) => {
      const choice = colourChoices.find((each) => each === text);
      if (choice === undefined) throw notInListError(text, colourChoices);
      setColour(choice);
      return choice;
    });
}
