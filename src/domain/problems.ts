/**
 * A mistake in user input or settings. The command prints it without a stack, ends with exit code 2, and sends
 * nothing.
 */
export type Problem = {
  /** `file:line:column`, `file:line`, a field, or the name of a setting. */
  readonly where: string;
  /** One or two sentences: what is wrong, what was expected, and the fix. */
  readonly what: string;
  /** The environment variable that is not set. */
  readonly unset?: string;
  /** Names of Volley users in `what`, which may look like addresses of recipients (`user@host`). */
  readonly userNames?: readonly string[];
};

const maxShown = 20;

/** The first problems, and the number of the others. */
export function truncateProblems(problems: readonly Problem[]): readonly Problem[] {
  const more = problems.length - maxShown;
  const [first] = problems;
  if (first === undefined || more <= 0) return problems;
  const where = first.where.replace(/(?::\d+){1,2}$/, '');
  const what = `${more.toLocaleString('en')} more ${more === 1 ? 'problem is' : 'problems are'} not shown.`;
  return [...problems.slice(0, maxShown), { where, what }];
}

/** Carries all problems; its message shows the first. */
export class InputError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    const lines = truncateProblems(problems).map(({ where, what }) => `${where}: ${what}`);
    super(lines.join('\n'), options);
    this.name = 'InputError';
    this.problems = problems;
  }
}

/** A part of this process ended and restarts, so another attempt may succeed. `cause` says why it ended. */
export class EndedError extends Error {
  override readonly name = 'EndedError';
}

/** A run refused because of its contacts. Contains no address. */
export type RefusedRun = {
  readonly campaign: string;
  readonly contacts: {
    readonly read: number;
    readonly invalid: number;
    readonly duplicate: number;
    readonly suppressed: number;
  };
  /** Contacts that were accepted. */
  readonly recipients: number;
  readonly reason: string;
};

/** The contacts of a campaign allow no run. Unlike other mistakes, `notify` reports this one. */
export class RefusedRunError extends InputError {
  readonly refused: RefusedRun;

  constructor(refused: RefusedRun, problems: readonly Problem[]) {
    super(problems);
    this.name = 'RefusedRunError';
    this.refused = refused;
  }
}
