import { randomUUID } from 'node:crypto';
import type { Finding } from '../../domain/doctor.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { printable } from '../../report/printable.ts';
import { argument, defineCommand, flag } from '../command.ts';
import { campaignArgument, contactsOption } from '../options.ts';

export const command = defineCommand({
  description:
    'Checks a campaign with its account, placeholders and files, and the header of its contact file, and asks the service whether it takes the credential. Sends and writes nothing.',
  arguments: [argument('<campaign>', campaignArgument)],
  options: [
    contactsOption,
    flag('--strict', 'refuse what is only warned of, with exit code 2'),
    flag('--json', 'print the result as JSON'),
  ],
  examples: [['volley check campaigns/first.yaml', 'find mistakes, without a ledger']],
  run: async (shell, [written], { json, strict, contacts: contactFiles }) => {
    const { campaignWarnings } = await import('../../campaign/campaign.ts');
    const { findCampaign } = await import('../../engine/definition-files.ts');
    const { askService } = await import('../../engine/doctor/accounts.ts');
    const { prepareCampaign } = await import('../../engine/plan/prepare-campaign.ts');
    const { withoutSilentInput } = await import('../silent-input.ts');
    const { settings, now } = shell;
    const path = await findCampaign(written, settings);
    const { campaign, account, close } = await prepareCampaign(path, withoutSilentInput(settings), {
      contactFiles,
    });
    await close();
    const service = await askService(account, { settings, now, randomUuid: randomUUID });
    const warnings = [...campaignWarnings(campaign, now()), ...serviceWarnings(account.name, service)];
    if (strict && warnings.length > 0) throw new InputError(warnings);
    for (const { where, what } of warnings) shell.note(`Warning: ${where}: ${what}`);
    const { campaign: name, channel } = campaign.value;
    shell.print(
      json
        ? JSON.stringify({ campaign: name, account: account.name, channel, ok: true, warnings, service })
        : `${path}: campaign ${name} is valid (${channel} through account ${account.name}).`,
    );
    if (!json && service.state !== 'problem' && service.state !== 'warning')
      shell.print(`account ${account.name}: ${service.found}`);
  },
});

/** A machine without network can check a campaign too, so a service that it cannot reach is only warned of. */
function serviceWarnings(account: string, { state, found, nextStep }: Finding): Problem[] {
  if (state !== 'problem' && state !== 'warning') return [];
  const what = printable(nextStep === null ? found : `${found} ${nextStep}`);
  return [{ where: `account ${account}`, what }];
}
