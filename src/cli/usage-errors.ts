import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { showInvisible } from '../platform/invisible-characters.ts';
import { didYouMean, oneOf } from '../platform/suggestions.ts';

/** Explains usage errors in Volley's own words, with exit code 2. */
export function withUsageErrors(command: Command): Command {
  command.createCommand = (name) => withUsageErrors(new Command(name));
  command.error = (message, { code = '' } = {}) => {
    const mistake = explainMistake(command, message, code);
    command.configureOutput().writeErr?.(`${showInvisible(mistake.what)}\n${mistake.hint}\n`);
    throw new CommanderError(2, code, message);
  };
  return command;
}

const argumentMissing = 'volley.wordMissing';

/** Refuses a command line that has none of several arguments and options. */
export function failMissingArgument(command: Command, what: string): never {
  return command.error(what, { code: argumentMissing });
}

/** No argument or option means something when it is empty: it comes from a variable of a script that is not set. */
export function refuseEmpty(command: Command): void {
  const given = [
    ...command.registeredArguments.map((argument, index) => [
      `<${argument.name()}>`,
      command.processedArgs[index],
    ]),
    ...command.options
      .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
      .map((option) => [option.flags, command.getOptionValue(option.attributeName())]),
  ];
  const [name] = given.find(([, value]) => [value].flat().includes('')) ?? [];
  if (name !== undefined) command.error(`${name} is empty. Is a variable of the shell not set?`);
}

export function notInListError(word: string, known: readonly string[], more = ''): InvalidArgumentError {
  return new InvalidArgumentError(`expected ${oneOf(known)}${more}.${didYouMean(word, known)}`);
}

type Mistake = { readonly what: string; readonly hint: string };

function explainMistake(command: Command, message: string, code: string): Mistake {
  const path = pathOf(command);
  const help = `(see ${path} --help)`;
  const withUsage = (what: string): Mistake => ({
    what,
    hint: `Usage: ${command.createHelp().commandUsage(command)}\n${help}`,
  });
  const quoted = [...message.matchAll(/'([^']*)'/g)].map(([, text = '']) => text);
  const [first = '', second = ''] = quoted;
  switch (code) {
    case 'commander.missingArgument': {
      const { description = '' } = command.registeredArguments.find((each) => each.name() === first) ?? {};
      return withUsage(`<${first}> is missing${description === '' ? '' : `: ${description}`}.`);
    }
    case 'commander.missingMandatoryOptionValue': {
      const option = command.options.find(({ flags }) => flags === first);
      const choices = option?.argChoices ? ` (${oneOf(option.argChoices)})` : '';
      return withUsage(`${first} is missing: ${option?.description ?? 'it is required'}${choices}.`);
    }
    case 'commander.optionMissingArgument':
      return { what: `${first}: a value is missing.`, hint: help };
    case 'commander.unknownOption':
      return {
        what: `There is no option ${first}.${didYouMean(first, optionsOf(command))}`,
        hint: help,
      };
    case 'commander.unknownCommand': {
      const names = command.commands.map((each) => each.name());
      const hint = `(see ${path} --help for the commands)`;
      return { what: `There is no command "${first}".${didYouMean(first, names)}`, hint };
    }
    case 'commander.excessArguments': {
      const allowed = command.registeredArguments.length;
      const given = message.slice(message.indexOf(butGot) + butGot.length, -1);
      const what = `${path} takes ${allowed === 0 ? 'no argument' : allowed === 1 ? '1 argument' : `${allowed} arguments`}, got ${given}.`;
      return withUsage(what);
    }
    case 'commander.conflictingOption':
      return { what: `${first} and ${second} exclude each other. Use one of them.`, hint: help };
    case 'commander.invalidArgument':
      return { what: explainInvalid(message), hint: help };
    case argumentMissing:
      return withUsage(message);
    default:
      return { what: message.replace(/^error: /, ''), hint: help };
  }
}

const butGot = 'but got ';

/** Adds the given value to the first sentence. */
function explainInvalid(message: string): string {
  const ofOption = /^error: option '(.+?)' argument '(.*)' is invalid\. (.+)$/s.exec(message);
  const ofArgument = /^error: command-argument value '(.*)' is invalid for argument '(.+?)'\. (.+)$/s.exec(
    message,
  );
  const [, name = '', given = '', why = ''] = ofOption ?? [
    '',
    ofArgument?.[2],
    ofArgument?.[1],
    ofArgument?.[3],
  ];
  const choices = /^Allowed choices are (.+?)\.(?: |$)/s.exec(why)?.[1]?.split(', ');
  const sentence = choices ? `expected ${oneOf(choices)}.${didYouMean(given, choices)}` : why;
  const [expected = ''] = /^.*?\.(?= |$)/s.exec(sentence) ?? [sentence];
  return `${name}: ${expected.replace(/\.$/, '')}, got "${given}".${sentence.slice(expected.length)}`;
}

function optionsOf(command: Command): string[] {
  const own = command.createHelp().visibleOptions(command);
  const above = command.parent ? optionsOf(command.parent) : [];
  return [...own.flatMap(({ long }) => (long ? [long] : [])), ...above];
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
