import { InputError } from '../../domain/problems.ts';
import { rerunStates } from '../../domain/runs.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { statesReader } from '../option-readers.ts';
import { campaignArgument, campaignOptions, jsonFlag, sendingExits } from '../options.ts';

export const command = defineCommand({
  description: 'Makes a new run of a campaign and sends it. Ctrl-C pauses it; `volley resume` continues it.',
  arguments: [argument('[campaign]', `${campaignArgument}; omit it with --plan`)],
  options: [
    ...campaignOptions,
    option('--only <states>', 'the states of recipients to send to again', {
      read: statesReader(rerunStates),
      retired: '`volley rerun <run> --state <states>`',
    }),
    flag('--again', 'also if an earlier run sent the same within dispatch.repeat (default: 12h)'),
    option('--plan <file>', 'send exactly what a plan file says, or refuse and say what has changed', {
      conflicts: ['contacts', 'of', 'only', 'limit', 'testTo'],
    }),
    flag('--sandbox', 'send to a sandbox that this command starts; the account must be one of the sandbox'),
    jsonFlag,
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
      const { runCampaignOrPlan } = await import('../runs/run-campaign.ts');
      await runCampaignOrPlan(shell, campaign, options);
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
