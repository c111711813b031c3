import type { MessagePort } from 'node:worker_threads';
import type { Actor } from '../../../domain/access.ts';
import { InputError, type Problem, type RefusedRun, RefusedRunError } from '../../../domain/problems.ts';
import type { CampaignToPlan, StartRequest, StartResult } from '../../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../../engine/context.ts';
import type { CommandScope, FoundCommand } from '../../../engine/notify/find-command.ts';
import { NothingNewError } from '../../../engine/plan/contact-patterns.ts';
import type { PlanProgress, StartPlan } from '../../../engine/plan/start-plan.ts';
import type { Settings } from '../../../engine/settings.ts';

/** Plain data, because messages between threads are copied. */

export type PlannerData = Pick<EngineContext['ledger'], 'connection' | 'description'> & {
  readonly settings: Pick<Settings, 'environment' | 'workingFolder' | 'envFiles'>;
  readonly campaigns: string;
};

/** What the thread can be asked, with what, and its answer. */
type Questions = {
  readonly planCampaign: {
    readonly given: { readonly request: CampaignToPlan; readonly actor: Actor };
    readonly answer: StartPlan;
  };
  readonly startRun: {
    readonly given: { readonly request: StartRequest; readonly actor: Actor };
    readonly answer: StartResult;
  };
  readonly findCommand: {
    readonly given: {
      readonly file: string | undefined;
      readonly command: readonly string[];
      readonly allowed: Pick<CommandScope, 'campaigns' | 'ownCampaign'>;
    };
    readonly answer: FoundCommand;
  };
  /** Answered when it is stopped. */
  readonly keepSchedules: { readonly given: undefined; readonly answer: undefined };
};

export type QuestionKind = keyof Questions;
export type Given<Kind extends QuestionKind> = Questions[Kind]['given'];
export type Answer<Kind extends QuestionKind> = Questions[Kind]['answer'];

export type Watch = { readonly onProgress: (progress: PlanProgress) => void; readonly stop: AbortSignal };

/** The thread answers at the port of the question. A message of the asker there stops the work. */
export type Question<Kind extends QuestionKind = QuestionKind> = {
  [Each in Kind]: { readonly kind: Each; readonly given: Given<Each>; readonly port: MessagePort };
}[Kind];

/** To end: the thread finishes the open questions first. */
export type ToPlanner = Question | 'end';

export type FromPlanner<Kind extends QuestionKind> =
  | { readonly kind: 'progress'; readonly progress: PlanProgress }
  | { readonly kind: 'answer'; readonly answer: Answer<Kind> }
  | { readonly kind: 'failure'; readonly failure: Failure };

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
