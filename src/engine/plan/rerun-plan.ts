import { estimateCost } from '../../campaign/cost.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { variantName } from '../../campaign/variants.ts';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { InputError } from '../../domain/problems.ts';
import { decideContacts } from '../../ledger/planning/decide.ts';
import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import { listSent } from '../../ledger/planning/read-decided.ts';
import { readWindowTotals } from '../../ledger/planning/windows.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { inOwnSession, inTransactionOf, type Transaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireSummary } from '../runs/find-run.ts';
import { createPlaceFinder } from './contact-files.ts';
import { forecastPortions } from './forecast.ts';
import { newPlanId } from './plan-file.ts';
import { createRunFileReader, renderPlannedMessage } from './planned-messages.ts';
import { approvalOf, checkRerun, proveRerun, type Rerun, requireRerunnable, stageRerun } from './rerun.ts';
import { readStartPlan, rowsAtOnce, type StartPlan } from './start-plan.ts';

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
  const cost = estimateCost(decided.totals, channel, rules.rates, now);
  checkRerun(source, { states, row }, decided.recipients, cost);
  const placeOf = createPlaceFinder(rules.contactFiles, (file) => rules.contactFiles[file]?.linesBefore ?? 0);
  const windowTotals = await readWindowTotals(client, rules.window !== undefined);
  const portions = windowTotals.map((each) => ({ ...each, sendAt: null }));
  const approval = approvalOf(definition);
  const shown = { rules, decided, cost, windowTotals, now, account, definition, approval, placeOf };
  const forecast = await forecastPortions(client, { account, definition }, portions, now);
  const readFile = createRunFileReader(context.ledger, source.run);
  const sent = await listSent(client, rowsAtOnce, fromRow - 1);
  const named = frozenVariants.parse(definition);
  return {
    ...(await readStartPlan(client, shown, { partCauses: null, variants: null, forecast })),
    notes: [],
    repeats: null,
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
    rowCount: decided.recipients,
    proof: await proveRerun(client, newPlanId(context), { account, decided, cost }),
    files: [],
    stamp: '',
  };
}
