import type { Command } from 'commander';
import type { CampaignsOptions } from '../actions/report-campaigns.ts';
import { lateOption, localTimeReader, utcZoneOption } from '../late-options.ts';
import { addReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  const campaigns = command
    .command('campaigns')
    .description(
      'Compares the runs of campaigns, newest first: contacts, requests, recipients, results, duration and cost. The costs equal those of `volley report billing --by run`.',
    )
    .argument('[campaign...]', 'names of campaigns; all by default')
    .addOption(
      await lateOption(
        words,
        '--from <date>',
        'runs planned from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30',
        localTimeReader,
      ),
    )
    .addOption(await lateOption(words, '--to <date>', 'runs planned before this time', localTimeReader))
    .addOption(await utcZoneOption(words, 'time zone of these dates'));
  addReportOptions(campaigns, 'table').action(async (names: readonly string[], options: CampaignsOptions) => {
    const { campaignsAction } = await import('../actions/report-campaigns.ts');
    await campaignsAction(shell, names, options);
  });
}
