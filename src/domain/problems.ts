/**
 * A mistake in something a person wrote or set: a campaign, an account, a contact file, a flag, an environment
 * variable. It is shown without a stack, ends the command with exit code 2, and nothing is sent after it.
 */
export type Problem = {
  /** `file:line:column`, `file:line`, a field, or a setting's name. */
  readonly where: string;
  /** What is wrong, what was expected, and what to do: one or two sentences. */
  readonly what: string;
  /** Names in `what` of persons who use Volley; they may look like addresses of recipients (`user@host`). */
  readonly userNames?: readonly string[];
};

const maxShown = 20;

/** The first of many problems, and how many more there are. */
export function shownProblems(problems: readonly Problem[]): readonly Problem[] {
  const more = problems.length - maxShown;
  const [first] = problems;
  if (first === undefined || more <= 0) return problems;
  const where = first.where.replace(/(?::\d+)+$/, '');
  const what = `${more.toLocaleString('en')} more ${more === 1 ? 'problem is' : 'problems are'} not shown.`;
  return [...problems.slice(0, maxShown), { where, what }];
}

/** Carries every problem found, so that all are known at once; the message shows the first. */
export class InputError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    const lines = shownProblems(problems).map(({ where, what }) => `${where}: ${what}`);
    super(lines.join('\n'), options);
    this.name = 'InputError';
    this.problems = problems;
  }
}

/** A part of this process has ended and is started again: the same may succeed now. `cause` says why. */
export class EndedError extends Error {
  override readonly name = 'EndedError';
}

/** A run that was refused because of its contacts, so that nothing was sent. No address is in it. */
export type RefusedRun = {
  readonly campaign: string;
  readonly contacts: {
    readonly read: number;
    readonly invalid: number;
    readonly duplicate: number;
    readonly suppressed: number;
  };
  /** Recipients who were left. */
  readonly recipients: number;
  readonly reason: string;
};

/** The contacts of a campaign are not such that a run is made of them. Unlike other mistakes, `notify` reports it. */
export class RefusedRunError extends InputError {
  readonly refused: RefusedRun;

  constructor(refused: RefusedRun, problems: readonly Problem[]) {
    super(problems);
    this.name = 'RefusedRunError';
    this.refused = refused;
  }
}
