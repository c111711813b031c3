import type { GuardSettings } from '../../decisions/guard.ts';
import { allowedShare, type UndeliveredSettings } from '../../decisions/undelivered.ts';
import { formatDuration, formatPercent } from '../../domain/scalar-text.ts';
import type { Transaction } from '../../ledger/session.ts';
import { type Destination, listLargestDestinations } from '../../ledger/watch/destinations.ts';
import { type ComparedRun, readUsual, type UsualOutcome } from '../../ledger/watch/usual.ts';
import { guardOf } from '../watch/guard.ts';

/** The guard of a planned run, and what it will compare the run with. */
export type PlannedGuard = {
  readonly settings: GuardSettings;
  /** Null: it is not compared with former runs, or the ledger is not read. */
  readonly former: {
    /** The largest of the run. */
    readonly destinations: readonly Destination[];
    readonly usual: UsualOutcome | undefined;
  } | null;
};

/**
 * Reads it while the contacts are staged in this session.
 *
 * @param compared null: the ledger is not read
 * @returns null for a campaign without a guard
 */
export async function readPlannedGuard(
  client: Transaction,
  definition: unknown,
  compared: Omit<ComparedRun, 'run'> | null,
): Promise<PlannedGuard | null> {
  const settings = guardOf(definition);
  if (!settings) return null;
  if (!settings.undelivered?.usual || !compared) return { settings, former: null };
  const destinations = await listLargestDestinations(client);
  return { settings, former: { destinations, usual: await readUsual(client, { ...compared, run: '' }) } };
}

/** What a plan says of the guard. The texts end without a full stop. */
export function guardNotes({ settings, former }: PlannedGuard): { label: string; text: string }[] {
  const { undelivered, action } = settings;
  const begins = action === 'pause' ? 'the run pauses' : 'Volley warns';
  return [
    { label: 'guard', text: `${begins} ${conditions(settings).join('; ')}` },
    ...(undelivered && former ? [{ label: 'usual', text: usualText(undelivered, former) }] : []),
  ];
}

function conditions({ undelivered, silence, price, rejected, unknown }: GuardSettings): string[] {
  const above = undelivered?.above === undefined ? [] : [formatPercent(undelivered.above)];
  const limits = [...above, ...(undelivered?.usual ? ['usual'] : [])].join(', or than ');
  const significantly = 'when significantly more';
  return [
    ...(undelivered
      ? [`${significantly} recipients are undelivered, at a destination or in all, than ${limits}`]
      : []),
    ...(silence === undefined ? [] : [`when no delivery report comes for ${formatDuration(silence)}`]),
    ...(price ? ['when prices are far from the rate card'] : []),
    ...(rejected === undefined
      ? []
      : [`${significantly} requests than ${formatPercent(rejected)} are rejected`]),
    ...(unknown === undefined
      ? []
      : [`${significantly} requests than ${formatPercent(unknown)} are in doubt`]),
  ];
}

const shownDestinations = 5;

function usualText(
  settings: UndeliveredSettings,
  { destinations, usual }: NonNullable<PlannedGuard['former']>,
): string {
  if (!usual) return `not known, because no former run has delivery reports; ${instead(settings)}`;
  const { source, runs, whole, at } = usual;
  const last = runs === 1 ? 'the last run' : `the last ${runs} runs`;
  const runsText =
    source === 'campaign'
      ? `${last} of the campaign`
      : `${last} of the account, because the campaign has not run`;
  const known = destinations.filter(({ destination }) => at[destination]);
  const places = known.slice(0, shownDestinations).map(({ destination }) => {
    const allowed = allowedShare(settings, destination, usual);
    const found = at[destination] ?? whole;
    return `${destination} ${percentOf(found)}${allowed ? ` (allowed ${percent(allowed.limit)})` : ''}`;
  });
  const more = known.length > places.length ? `, and ${known.length - places.length} more` : '';
  const byPlace =
    places.length === 0
      ? `; by destination not known yet, so ${instead(settings)} there`
      : `; ${places.join(', ')}${more}`;
  return `${percentOf(whole)} undelivered in ${runsText}${byPlace}`;
}

/** What counts where nothing is known of former runs. */
function instead({ above }: UndeliveredSettings): string {
  return above === undefined ? 'only a canary counts' : `only ${formatPercent(above)} and a canary count`;
}

function percentOf({ events, trials }: UsualOutcome['whole']): string {
  return percent(events / trials);
}

const percent = (share: number): string => formatPercent(Math.round(share * 1_000) / 1_000);
