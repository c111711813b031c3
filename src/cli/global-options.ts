import { type ColourChoice, colourChoices } from './colour.ts';
import { type OptionSpec, option } from './command.ts';
import { envFileOption } from './env-file-settings.ts';
import { notInListError } from './usage-errors.ts';

/** The options of every command change these while the command line is parsed. */
export type ScreenSetters = {
  readonly setColour: (choice: ColourChoice) => void;
  readonly setZone: (zone: string) => void;
};

export const globalOptions = ({ setColour, setZone }: ScreenSetters): readonly OptionSpec[] => [
  option(
    '--color <when>',
    `colours: ${colourChoices.join(', ')}; auto: on a terminal, unless NO_COLOR is set`,
    {
      otherwise: 'auto',
      read: (text: string): ColourChoice => {
        const choice = colourChoices.find((each) => each === text);
        if (choice === undefined) throw notInListError(text, colourChoices);
        setColour(choice);
        return choice;
      },
    },
  ),
  option(
    '--zone <zone>',
    "time zone of printed times, such as Pacific/Auckland (default: the terminal's (TZ), otherwise UTC); JSON and CSV are UTC",
    {
      // Loading the time zones takes as long as the rest of `--help`.
      late: async () => {
        const { parseTimeZone } = await import('./time-zone-option.ts');
        return (text: string) => {
          const zone = parseTimeZone(text);
          setZone(zone);
          return zone;
        };
      },
    },
  ),
  envFileOption,
];
