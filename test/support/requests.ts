import type pg from 'pg';
import type { ClaimFence } from '../../src/ledger/location/location.ts';
import { addPlannedRows, addSendingRows } from '../../src/ledger/requests/add-rows.ts';
import { type AcceptedRequest, advanceSlices } from '../../src/ledger/requests/advance.ts';
import {
  type CancelledRequest,
  type ClaimedRequest,
  claimRows,
  type RowsClaim,
} from '../../src/ledger/requests/claim-rows.ts';
import {
  type OrdinaryRequest,
  readContents,
  readEnvelopes,
} from '../../src/ledger/requests/read-contents.ts';
import { startNextAttempt as startNextAttemptOfRow } from '../../src/ledger/requests/release.ts';
import { type Settlement, settleRequests as settleRows } from '../../src/ledger/requests/settle.ts';
import type { HashKey } from '../../src/ledger/suppressions/hash.ts';

/*
 * Steps of a worker on the requests of a slice. They read from the ledger what a worker keeps in memory
 * (`engine/dispatch/range-source.ts`).
 */

export type { ClaimedRequest };

export type SliceClaim = Omit<RowsClaim, 'version' | 'from'> & { readonly from?: number };

export type Claim = {
  readonly claimed: readonly ClaimedRequest[];
  readonly cancelled: readonly CancelledRequest[];
};

type DbSlice = { readonly version: number; readonly claimed_to: number; readonly claimed_at: Date | null };

async function findHeld(
  pool: pg.Pool,
  { run, slice, owner }: Pick<SliceClaim, 'run' | 'slice' | 'owner'>,
): Promise<DbSlice | undefined> {
  const { rows } = await pool.query<DbSlice>(
    'SELECT version, claimed_to, claimed_at FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3',
    [run, slice, owner],
  );
  return rows[0];
}

/** For each slice, claims requests without rows first, then those with rows, in ascending order. */
export async function claimRequests(
  pool: pg.Pool,
  claims: readonly SliceClaim[],
  {
    now,
    key = null,
    fence = null,
  }: { readonly now: Date; readonly key?: HashKey | null; readonly fence?: ClaimFence | null },
): Promise<Claim[]> {
  const made: Claim[] = [];
  for (const claim of claims) {
    const ordinary = await claimFromRanges(pool, claim, { now, key, fence });
    const held = await findHeld(pool, claim);
    if (!held || ordinary.length >= claim.limit) {
      made.push({ claimed: ordinary, cancelled: [] });
      continue;
    }
    const left = {
      from: claim.first,
      ...claim,
      version: held.version + 1,
      limit: claim.limit - ordinary.length,
    };
    const { claimed, cancelled } = await claimRows(pool, left, { now, key, fence });
    made.push({ claimed: [...ordinary, ...claimed], cancelled });
  }
  return made;
}

async function claimFromRanges(
  pool: pg.Pool,
  claim: SliceClaim,
  {
    now,
    key,
    fence,
  }: { readonly now: Date; readonly key: HashKey | null; readonly fence: ClaimFence | null },
): Promise<ClaimedRequest[]> {
  const { run, slice, owner, limit, last } = claim;
  const held = await findHeld(pool, claim);
  if (!held) return [];
  const found: OrdinaryRequest[] = [];
  let epoch = '';
  let readTo: number | undefined = held.claimed_to;
  while (readTo !== undefined && found.length < limit) {
    const contents = await readContents(pool, claim, readTo, key);
    if (contents.suppressed.length > 0) await addPlannedRows(pool, claim, contents.suppressed);
    found.push(...contents.requests);
    ({ readTo, epoch } = contents);
  }
  const requests = found.slice(0, limit);
  const to =
    readTo === undefined && requests.length === found.length ? last : (requests.at(-1)?.request ?? 0);
  if (to <= held.claimed_to) return [];
  const step = {
    run,
    slice,
    owner,
    version: held.version + 1,
    claim: { after: held.claimed_to, to, epoch },
    accepted: [],
  };
  const [result] = await advanceSlices(pool, [step], now, fence);
  if (result !== 'granted') return [];
  const envelopes = await readEnvelopes(pool, run, [...new Set(requests.map(({ envelope }) => envelope))]);
  return requests.map(({ request, messageId, destinations, envelope }) => {
    const content = envelopes.find((each) => each.envelope === envelope);
    if (!content) throw new Error(`there is no envelope ${envelope}`);
    const { envelope: _, ...fields } = content;
    return { request, messageId, attempt: 1, envelope: fields, destinations };
  });
}

/** Records outcomes: requests accepted at once together, others in rows. */
export async function settleRequests(
  pool: pg.Pool,
  settlements: readonly Settlement[],
): Promise<ReadonlySet<number>> {
  const sent: SentRequest[] = [];
  for (const settlement of settlements) {
    const found = await findSent(pool, settlement);
    if (found) sent.push(found);
  }
  for (const { settlement, startedAt } of sent) {
    const { run, slice, owner, request, state } = settlement;
    if (state !== 'accepted') {
      await addSendingRows(pool, { run, slice, owner, started: [{ request, startedAt }] });
    }
  }
  const recordedTogether = await recordAccepted(
    pool,
    sent.filter(({ settlement }) => settlement.state === 'accepted'),
  );
  const inRows = settlements.filter((settlement) => !recordedTogether.has(settlement));
  const rows = inRows.length > 0 ? await settleRows(pool, inRows) : new Set<number>();
  const isSettled = (settlement: Settlement): boolean =>
    recordedTogether.has(settlement) || rows.has(inRows.indexOf(settlement));
  return new Set(settlements.flatMap((settlement, index) => (isSettled(settlement) ? [index] : [])));
}

/** A request without a row that the slice's owner is sending. */
type SentRequest = {
  readonly settlement: Settlement;
  readonly recipients: number;
  readonly held: DbSlice;
  readonly startedAt: Date;
};

async function findSent(pool: pg.Pool, settlement: Settlement): Promise<SentRequest | undefined> {
  const { rows } = await pool.query<{ state: string; recipients: number }>(
    'SELECT state, recipients FROM ordinary_requests_between($1, $2, $2)',
    [settlement.run, settlement.request],
  );
  const [found] = rows;
  const held = await findHeld(pool, settlement);
  if (!held || found?.state !== 'sending') return undefined;
  return {
    settlement,
    recipients: found.recipients,
    held,
    startedAt: held.claimed_at ?? settlement.finishedAt,
  };
}

async function recordAccepted(pool: pg.Pool, sent: readonly SentRequest[]): Promise<ReadonlySet<Settlement>> {
  const bySlice = Map.groupBy(sent, ({ settlement: { run, slice } }) => `${run} ${slice}`);
  const recorded = new Set<Settlement>();
  for (const [first, ...others] of bySlice.values()) {
    if (!first) continue;
    const { run, slice, owner, finishedAt } = first.settlement;
    const accepted = [first, ...others].map(acceptedRequest);
    const step = { run, slice, owner, version: first.held.version + 1, claim: undefined, accepted };
    const [result] = await advanceSlices(pool, [step], finishedAt, null);
    if (result === 'lost') continue;
    for (const { settlement } of [first, ...others]) recorded.add(settlement);
  }
  return recorded;
}

function acceptedRequest({ settlement, recipients, startedAt }: SentRequest): AcceptedRequest {
  const tookMs = Math.max(0, settlement.finishedAt.getTime() - startedAt.getTime());
  return { ...settlement, recipients, tookMs };
}

/** Like the ledger's own, but also for requests without a row. */
export async function startNextAttempt(
  pool: pg.Pool,
  retry: Parameters<typeof startNextAttemptOfRow>[1] & { readonly slice?: number },
): Promise<boolean> {
  const { run, owner, request, finishedAt } = retry;
  const { rows } = await pool.query<{ slice: number; claimed_at: Date | null }>(
    'SELECT slice, claimed_at FROM ordinary_requests_between($1, $2, $2)',
    [run, request],
  );
  for (const { slice, claimed_at } of rows) {
    const startedAt = claimed_at ?? finishedAt;
    await addSendingRows(pool, { run, slice, owner, started: [{ request, startedAt }] });
  }
  return startNextAttemptOfRow(pool, retry);
}
