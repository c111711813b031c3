import { InputError } from '../../domain/problems.ts';
import { rerunStates } from '../../domain/runs.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { statesReader } from '../option-readers.ts';
import {
  campaignArgument,
  contactsOption,
  jsonSummaryFlag,
  limitOption,
  originOption,
  sendingExits,
  testOption,
} from '../options.ts';

export const command = defineCommand({
  description:
    'Makes a new run of a campaign and sends it. Ctrl-C drains: Volley records the answers to requests in flight, and `volley resume` continues the run.',
  arguments: [argument('[campaign]', `${campaignArgument}; omit it with --plan`)],
  options: [
    contactsOption,
    originOption,
    limitOption,
    testOption,
    option('--only <states>', 'the states of recipients to send to again', {
      read: statesReader(rerunStates),
      retired: '`volley rerun <run> --state <states>`',
    }),
    flag(
      '--again',
      'run even if an earlier run sent the same to the same contacts within dispatch.repeat (default: 12h)',
    ),
    option(
      '--plan <file>',
      'run a plan file: sends exactly what was planned, or refuses and says what has changed',
      { conflicts: ['contacts', 'of', 'only', 'limit', 'testTo'] },
    ),
    flag(
      '--sandbox',
      'send to a sandbox that this command starts, and wait for the delivery reports; the account must be one of the sandbox',
    ),
    jsonSummaryFlag,
  ],
  exits: sendingExits,
  examples: [
    ['volley run campaigns/first.yaml', 'send a campaign'],
    ['volley run campaigns/first.yaml --sandbox', 'try it, without a service'],
    ['volley run campaigns/first.yaml --test-to +61412345678', 'send the first row to yourself'],
    ['volley run --plan first.plan', 'send exactly a saved plan'],
    ['volley run campaigns/first.yaml --of latest', 'send to those that the newest run did not reach'],
  ],
  run: async (shell, [campaign], { only, ...options }) => {
    if (only === undefined) {
      const { runCommand } = await import('../runs/run-campaign.ts');
      await runCommand(shell, campaign, options);
      return;
    }
    const { of: run, contacts, again, limit, json, sandbox } = options;
    if (run === undefined || campaign !== undefined || contacts || again || limit !== undefined) {
      const what = 'It needs --of, and takes no campaign, --contacts, --limit or --again.';
      throw new InputError([{ where: '--only', what }]);
    }
    const { command: rerun } = await import('./rerun.ts');
    await rerun.run(shell, [run], { state: only, json, sandbox });
  },
});
