import type { Actor } from '../../../domain/access.ts';
import { InputError, type Problem, type RefusedRun, RefusedRunError } from '../../../domain/problems.ts';
import type { CampaignToPlan, StartRequest, StartResult } from '../../../engine/access/start-by-key.ts';
import type { CommandScope, FoundCommand } from '../../../engine/notify/find-command.ts';
import { NothingNewError } from '../../../engine/plan/contact-patterns.ts';
import type { PlanProgress, StartPlan } from '../../../engine/plan/start-plan.ts';
import type { DatabaseConnection } from '../../../platform/database.ts';

/** Plain data, because messages between threads are copied. */

export type PlannerData = {
  readonly connection: DatabaseConnection;
  readonly description: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
  readonly envFiles: readonly string[];
  readonly campaigns: string;
};

export type Question =
  | { readonly kind: 'plan'; readonly request: CampaignToPlan; readonly actor: Actor }
  | { readonly kind: 'start run'; readonly request: StartRequest; readonly actor: Actor }
  | {
      readonly kind: 'find command';
      readonly file: string | undefined;
      readonly command: readonly string[];
      readonly allowed: Pick<CommandScope, 'campaigns' | 'ownCampaign'>;
    }
  /** Answered after `stop schedules`. */
  | { readonly kind: 'keep schedules' };

export type Answer =
  | { readonly kind: 'plan'; readonly plan: StartPlan }
  | { readonly kind: 'start run'; readonly end: StartResult }
  | { readonly kind: 'find command'; readonly found: FoundCommand }
  | { readonly kind: 'keep schedules' };

export type ToPlanner =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** The answer to a plan is not needed any more. */
  | { readonly kind: 'stop plan'; readonly id: number }
  | { readonly kind: 'stop schedules' }
  /** Finishes the open questions, and ends the thread. */
  | { readonly kind: 'end' };

export type FromPlanner =
  | { readonly kind: 'progress'; readonly id: number; readonly progress: PlanProgress }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure };

/** `kind` stands for the class of the error. */
type Failure =
  | { readonly kind: 'refused'; readonly refused: RefusedRun; readonly problems: readonly Problem[] }
  | { readonly kind: 'input'; readonly problems: readonly Problem[] }
  | { readonly kind: 'nothing new'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string; readonly code: unknown };

export function toFailure(error: unknown): Failure {
  if (error instanceof RefusedRunError)
    return { kind: 'refused', refused: error.refused, problems: error.problems };
  if (error instanceof InputError) return { kind: 'input', problems: error.problems };
  if (error instanceof NothingNewError) return { kind: 'nothing new', message: error.message };
  if (!(error instanceof Error)) return { kind: 'other', message: String(error), code: undefined };
  return { kind: 'other', message: error.message, code: 'code' in error ? error.code : undefined };
}

export function toError(failure: Failure): Error {
  switch (failure.kind) {
    case 'refused':
      return new RefusedRunError(failure.refused, failure.problems);
    case 'input':
      return new InputError(failure.problems);
    case 'nothing new':
      return new NothingNewError(failure.message);
    case 'other':
      return Object.assign(new Error(failure.message), { code: failure.code });
  }
}
