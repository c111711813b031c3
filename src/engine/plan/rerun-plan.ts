import { approvalReason } from '../../campaign/approval.ts';
import { estimateCost, sumParts } from '../../campaign/cost.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { variantName } from '../../campaign/variants.ts';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { decideContacts } from '../../ledger/planning/decide.ts';
import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import { listLeftOut, listSent } from '../../ledger/planning/read-decided.ts';
import { readWindowTotals } from '../../ledger/planning/windows.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { inOwnSession, inTransactionOf, type Transaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireSummary } from '../runs/find-run.ts';
import { createPlaceFinder } from './contact-files.ts';
import { budgetOf, forecastPortions } from './planned-facts.ts';
import { createRunFileReader, renderPlannedMessage } from './planned-messages.ts';
import { maxLeftOut } from './preview-campaign.ts';
import { approvalOf, checkRerun, proveRerun, type Rerun, requireRerunnable, stageRerun } from './rerun.ts';
import { groupsOf, rowsAtOnce, type StartPlan, windowsOf } from './start-plan.ts';

/**
 * Plans a rerun for the page that starts it, as `planRerun` does. Sends and writes nothing.
 *
 * @param fromRow number of the first recipient whose message the person asks for
 * @throws InputError when the run is being sent, or a rerun would be refused
 */
export async function planOfRerun(
  context: EngineContext,
  { of, states, row, account }: Pick<Rerun, 'of' | 'states' | 'row' | 'account'>,
  fromRow: number,
): Promise<StartPlan> {
  const source = await requireRerunnable(context, of);
  const refuse = (what: string): never => {
    throw new InputError([{ where: `run ${of}`, what }]);
  };
  if (source.state === 'running') refuse('It is being sent. Wait until it is completed, or pause it.');
  const { recipients } = await requireSummary(context, of);
  if (states.every((state) => recipients[state] === 0))
    refuse(`No recipient of it is ${states.join(' or ')}.`);
  const now = context.now();
  const tariffs = createTariffs(source.channel, account);
  return inOwnSession(context.ledger.pool, async (session) => {
    const staged = await stageRerun(session, source, { states, row, account }, { now, tariffs });
    const { channel } = source;
    const named = { account: account.name, suppressionAccount: account.suppressionsOf, channel };
    const rules = { ...staged, ...named, rates: tariffs.rates() };
    const planning = { source, rules, rerun: { states, row, account }, fromRow, now };
    return inTransactionOf(session, (client) => readPlan(context, client, planning), 'BEGIN READ ONLY');
  });
}

type Planning = {
  readonly source: Run;
  readonly rules: PlanRules;
  readonly rerun: Pick<Rerun, 'states' | 'row' | 'account'>;
  readonly fromRow: number;
  readonly now: Date;
};

async function readPlan(
  context: EngineContext,
  client: Transaction,
  { source, rules, rerun: { states, row, account }, fromRow, now }: Planning,
): Promise<StartPlan> {
  const { channel, definition } = source;
  const decided = await decideContacts(client, rules, context.ledger);
  const { recipients, requests, totals, contacts } = decided;
  const cost = estimateCost(totals, channel, rules.rates, now);
  checkRerun(source, { states, row }, recipients, cost);
  const placeOf = createPlaceFinder(rules.contactFiles, (file) => rules.contactFiles[file]?.linesBefore ?? 0);
  const leftOut = (await listLeftOut(client, rules, maxLeftOut)).map(({ line, detail, ...each }) => ({
    ...each,
    ...placeOf(line),
    detail: formatReason(detail),
  }));
  const totalsOfWindows = await readWindowTotals(client, rules.window !== undefined);
  const portions = totalsOfWindows.map((each) => ({ ...each, sendAt: null }));
  const readFile = createRunFileReader(context.ledger, source.run);
  const sent = await listSent(client, rowsAtOnce, fromRow - 1);
  const named = frozenVariants.parse(definition);
  const id = context.randomBytes(16).toString('hex');
  return {
    madeAt: now,
    figures: {
      account: account.name,
      channel,
      contactsRead: contacts.read,
      recipients,
      requests,
      smsParts: sumParts(totals, channel),
      partCauses: null,
      variants: null,
      cost,
      budget: budgetOf(definition),
      rejections: groupsOf(leftOut),
      windows: windowsOf(rules.window, totalsOfWindows),
      confirmAboveRecipients: account.confirmAboveRecipients,
      forecast: await forecastPortions(context, { account, definition }, portions),
    },
    leftOut,
    notes: [],
    repeats: null,
    approval: approvalReason(approvalOf(definition), recipients, cost) ?? null,
    rows: await Promise.all(
      sent.map(async ({ line, address, destination, envelope, ...contact }, index) => {
        const to = { Recipient: address, ...destination };
        const message = await renderPlannedMessage(channel, envelope, to, readFile);
        const variant = variantName(named, contact);
        return {
          kind: 'message' as const,
          row: fromRow + index,
          why: [],
          ...placeOf(line),
          variant,
          message,
        };
      }),
    ),
    rowCount: recipients,
    proof: await proveRerun(client, id, { account, decided, cost }),
    files: [],
    stamp: '',
  };
}
