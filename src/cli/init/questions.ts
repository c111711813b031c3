import { InvalidArgumentError } from 'commander';
import { InputError } from '../../domain/problems.ts';
import type { Shell } from '../shell.ts';

/** Asks the person at the terminal. An empty answer means the default. */
export type Ask = <Answer>(
  question: string,
  fallback: string,
  /** @throws InputError or InvalidArgumentError; then the question is asked again */
  parse: (typed: string) => Answer | Promise<Answer>,
) => Promise<Answer>;

export type Questions = { readonly ask: Ask; readonly close: () => void };

/** @returns undefined without a terminal */
export function openQuestions(shell: Shell): Questions | undefined {
  if (!shell.terminal) return undefined;
  const { standardInput } = shell.settings;
  if (!standardInput?.isTTY) return undefined;
  const lines = readLines(standardInput);
  return {
    async ask(question, fallback, parse) {
      for (;;) {
        shell.noteInline(fallback === '' ? `${question}: ` : `${question} [${fallback}]: `);
        const line = await lines.next();
        if (line.done) {
          shell.noteInline('\n');
          throw new InputError([
            {
              where: 'standard input',
              what: 'It ended before all questions were answered. Nothing was made.',
            },
          ]);
        }
        try {
          return await parse(line.value.trim() || fallback);
        } catch (error) {
          if (error instanceof InputError) for (const { what } of error.problems) shell.note(`  ${what}`);
          else if (error instanceof InvalidArgumentError) shell.note(`  ${error.message}`);
          else throw error;
        }
      }
    },
    close: () => void standardInput.destroy?.(),
  };
}

async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const piece of input) {
    const lines = (rest + piece.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
