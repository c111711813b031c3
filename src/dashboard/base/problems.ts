import { InputError, type Problem, truncateProblems } from '../../domain/problems.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';

/** @throws InputError always */
export function refuse(where: string, what: string): never {
  throw new InputError([{ where, what }]);
}

/** Commands for which a page has a link or a button. */
const commandOfPage =
  /`volley (?:approve|billing report|cancel|pause|plan|promote|report|rerun|resolve|resume|run|runs|status|suppress remove|token list)\b/;

/** A text that commands print too, without the sentences about commands that pages replace. */
export function omitCommands(text: string): string {
  const clauses = text.split(/(?<=[.!?;]) (?=[A-Z`])/);
  const left = clauses.filter((each) => !commandOfPage.test(each));
  return (left.length > 0 ? left.join(' ') : text).replace(/;$/, '.');
}

/** Problems, each with its place, such as `night.yaml:6:19`. */
export function problemItems(problems: readonly Problem[]): Html {
  const items = truncateProblems(problems).map(
    ({ where, what }) => html`<li><code dir="auto">${where}</code>: <bdi>${omitCommands(what)}</bdi></li>`,
  );
  return html`<ul class="places">${items}</ul>`;
}

/** The result, or the input error that says why there is none. */
export async function orInputError<Result>(work: Promise<Result>): Promise<Result | InputError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

export function problemText(result: unknown): string | undefined {
  return result instanceof InputError
    ? result.problems.map(({ what }) => omitCommands(what)).join(' ')
    : undefined;
}

/** A list of problems above a form, which gets the focus. */
export function problemList(title: string, problems: readonly Part[]): Html {
  return html`<div class="problems" role="alert" tabindex="-1" id="problems"><h2>${title}</h2><ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul></div>`;
}
