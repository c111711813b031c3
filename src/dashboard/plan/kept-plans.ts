import { InputError, type Problem } from '../../domain/problems.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { type PlanProgress, type StartPlan, stampOf } from '../../engine/plan/start-plan.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import { createCallLimit } from '../../server/api/call-limits.ts';

/** How far a plan is. `progress` is undefined before the first row is read. */
export type PlanState =
  | { readonly kind: 'planning'; readonly progress: PlanProgress | undefined }
  | { readonly kind: 'planned'; readonly plan: StartPlan }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/** @param stop aborts when the plan is not needed any more */
export type MakePlan = (
  watch: { readonly onProgress: (progress: PlanProgress) => void; readonly stop: AbortSignal },
  fromRow: number,
) => Promise<StartPlan>;

/** A plan to make. `owner`: a person with a token. `key` names the plan among those of the owner. */
export type PlanToMake = { readonly owner: string; readonly key: string; readonly make: MakePlan };
type PlanName = Pick<PlanToMake, 'owner' | 'key'>;

export type KeptPlan = {
  /** Of this making: a plan that is made anew has another. */
  readonly id: number;
  readonly state: () => PlanState;
  /** Never rejects. */
  readonly ended: Promise<void>;
};

export type KeptPlans = ReturnType<typeof createKeptPlans>;

/** Milliseconds. */
const maxAge = 3_600_000;
const maxMaking = 600_000;

/** Plans that are made at once; others wait. */
const atOnce = 2;

/** The oldest is dropped for a new one. */
const maxOfOwner = 3;
const maxInAll = 20;

type Kept = KeptPlan & {
  readonly owner: string;
  /** The first row that was asked for. */
  readonly fromRow: number;
  readonly drop: () => void;
};

/** The plans of all persons in this process, each found by its owner only. They are lost with the process. */
export function createKeptPlans(logger: Logger) {
  const kept = new Map<string, Kept>();
  const inTurn = createCallLimit(atOnce, maxMaking);
  let lastId = 0;

  const remove = (name: string): void => {
    kept.get(name)?.drop();
    kept.delete(name);
  };
  const makeRoom = (owner: string): void => {
    const own = [...kept].filter(([, each]) => each.owner === owner);
    if (own.length >= maxOfOwner) remove(own[0]?.[0] ?? '');
    if (kept.size >= maxInAll) remove([...kept.keys()][0] ?? '');
  };
  const begin = (wanted: PlanToMake, fromRow: number): Kept => {
    const { owner, make } = wanted;
    const dropped = new AbortController();
    const stop = AbortSignal.any([dropped.signal, AbortSignal.timeout(maxMaking)]);
    let state: PlanState = { kind: 'planning', progress: undefined };
    const onProgress = (progress: PlanProgress): void => {
      if (state.kind === 'planning') state = { kind: 'planning', progress };
    };
    const work = inTurn(async () => {
      stop.throwIfAborted();
      return make({ onProgress, stop }, fromRow);
    });
    const ended = work.then(
      (plan) => {
        state = { kind: 'planned', plan };
      },
      (error: unknown) => {
        const problems = dropped.signal.aborted ? [replaced] : problemsOf(error, stop.aborted);
        state = { kind: 'refused', problems };
        if (!(error instanceof InputError) && !stop.aborted)
          logger.warn({ reason: loggableReason(error) }, 'a plan was not made');
      },
    );
    const expiry = setTimeout(() => remove(nameOf(wanted)), maxAge).unref();
    const drop = (): void => {
      clearTimeout(expiry);
      dropped.abort();
    };
    return { id: ++lastId, owner, fromRow, state: () => state, ended, drop };
  };

  return {
    /**
     * The kept plan, or a new one that is made in the background: also when a file of the kept one has changed, or it has
     * not the row that the person asks for.
     */
    async open(wanted: PlanToMake, row: number | undefined): Promise<KeptPlan> {
      const name = nameOf(wanted);
      const known = kept.get(name);
      if (known && (await isCurrent(known, row))) return known;
      const newer = kept.get(name);
      if (newer && newer !== known) return newer;
      remove(name);
      makeRoom(wanted.owner);
      const begun = begin(wanted, row ?? 1);
      kept.set(name, begun);
      return begun;
    },
    find: (wanted: PlanName): StartPlan | undefined => {
      const state = kept.get(nameOf(wanted))?.state();
      return state?.kind === 'planned' ? state.plan : undefined;
    },
    drop: (wanted: PlanName): void => remove(nameOf(wanted)),
    close: (): void => {
      for (const name of [...kept.keys()]) remove(name);
    },
  };
}

const nameOf = ({ owner, key }: PlanName): string => JSON.stringify([owner, key]);

async function isCurrent(kept: Kept, row: number | undefined): Promise<boolean> {
  const state = kept.state();
  if (state.kind !== 'planned') return true;
  const { rows, rowCount, files, stamp } = state.plan;
  const isShown =
    row === undefined || row === kept.fromRow || row > rowCount || rows.some((each) => each.row === row);
  return isShown && stamp === (await stampOf(files));
}

const replaced: Problem = { where: 'plan', what: 'A later plan replaced it. Plan it again.' };

function problemsOf(error: unknown, isLate: boolean): readonly Problem[] {
  if (error instanceof InputError) return error.problems;
  if (error instanceof NothingNewError) return [{ where: 'contacts', what: error.message }];
  const what = isLate
    ? `It was not made within ${maxMaking / 60_000} minutes. Plan it again.`
    : 'It could not be made; the log of Volley says why. Plan it again.';
  return [{ where: 'plan', what }];
}
