import { findCampaign } from '../../engine/definition-files.ts';
import { prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import { decidePlan, readPreview } from '../../engine/plan/preview-campaign.ts';
import { loadGiven } from '../../engine/rehearsal/given-file.ts';
import { rehearseDecided } from '../../engine/rehearsal/rehearse-campaign.ts';
import { chooseOrigin } from '../runs/choose-run.ts';
import { type Shell, withLedgerToPlan } from '../shell.ts';
import { rehearsalText } from './rehearsal-text.ts';

type RehearsalOptions = {
  readonly json?: true;
  readonly contacts?: readonly string[];
  readonly of?: string;
  readonly limit?: number;
  readonly given?: string | undefined;
  readonly seed?: number | undefined;
};

/** `volley plan --simulate`. */
export async function rehearseCampaign(
  shell: Shell,
  written: string,
  { json, contacts: contactFiles, of, limit, given: givenPath, seed = 1 }: RehearsalOptions,
): Promise<void> {
  shell.endOnStop('Stopped while planning. A plan sends nothing.');
  const { settings } = shell;
  const path = await findCampaign(written, settings);
  const given = givenPath === undefined ? undefined : await loadGiven(givenPath, settings);
  const origin = await chooseOrigin(shell, path, of);
  const prepared = await prepareCampaign(path, settings, { contactFiles, origin, limit });
  const { preview, rehearsal } = await withLedgerToPlan(shell, (context) =>
    decidePlan(prepared, context, {}, async (client, plan) => ({
      preview: await readPreview(client, plan),
      rehearsal: await rehearseDecided(client, plan, { given, seed }),
    })),
  );
  shell.print(
    json
      ? JSON.stringify({ ...preview, rehearsal })
      : rehearsalText(preview.campaign, rehearsal, shell.screen),
  );
}
