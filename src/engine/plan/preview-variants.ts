import { amountOf, estimateCost, sumParts } from '../../campaign/cost.ts';
import { controlNumber } from '../../campaign/variants.ts';
import { type PlannedVariant, totalRecipients } from '../../domain/variants.ts';
import type { Decided, PlanRules } from '../../ledger/planning/planned-run.ts';
import { countControlGroup, listVariantTotals } from '../../ledger/planning/read-decided.ts';
import type { Transaction } from '../../ledger/session.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/** Reads what each variant of a plan sends, with the control group and the rest; null: the campaign has none. */
export async function previewVariants(
  client: Transaction,
  { campaign, winner }: Pick<PreparedCampaign, 'campaign' | 'winner'>,
  rules: Pick<PlanRules, 'channel' | 'rates' | 'variants'>,
  { rest }: Pick<Decided, 'rest'>,
  now: Date,
): Promise<readonly PlannedVariant[] | null> {
  const { variants } = campaign.value;
  if (!variants || !rules.variants) return null;
  const found = await listVariantTotals(client);
  const control = await countControlGroup(client);
  const costOf = (totals: Decided['totals']): string | null =>
    amountOf(estimateCost(totals, rules.channel, rules.rates, now));
  const lines = variants.map(({ name, share }, index): PlannedVariant => {
    const number = index + 1;
    if (number === controlNumber({ variants }))
      return { name, share, gets: 'nothing', recipients: control, requests: 0, smsParts: null, cost: null };
    const { totals = [], requests = 0 } = found.find(({ variant }) => variant === number) ?? {};
    const smsParts = sumParts(totals, rules.channel);
    const recipients = totalRecipients(totals);
    return { name, share, gets: 'message', recipients, requests, smsParts, cost: costOf(totals) };
  });
  if (!rules.variants.hasRest || winner !== undefined) return lines;
  const share = 1 - variants.reduce((sum, each) => sum + each.share, 0);
  const last: PlannedVariant = {
    name: 'the rest',
    share,
    gets: 'winner',
    recipients: totalRecipients(rest),
    requests: 0,
    smsParts: sumParts(rest, rules.channel),
    cost: costOf(rest),
  };
  return [...lines, last];
}
