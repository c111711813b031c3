/** What people got wrong. */

/**
 * A mistake in something a person wrote or set: a campaign, an account, a contact file, a flag, an environment
 * variable. It is shown without a stack, ends the command with exit code 2, and nothing is sent after it.
 */
export type Problem = {
  /** `file:line:column`, `file:line`, a field, or a setting's name. */
  readonly where: string;
  /** What is wrong, what was expected, and what to do: one or two sentences. */
  readonly what: string;
};

/** Carries every problem found, so that all are shown at once. */
export class InputError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(({ where, what }) => `${where}: ${what}`).join('\n'), options);
    this.name = 'InputError';
    this.problems = problems;
  }
}
