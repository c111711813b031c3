import type { Start } from '../../engine/access/start-by-key.ts';
import { type Html, html } from '../../report/html/html.ts';
import { refuse } from '../base/problems.ts';
import type { View } from '../base/view.ts';
import { runPath } from '../paths.ts';

/** A form that plans a run has a key, so that it plans one, however often it is sent. */
export function keyField({ context }: View, key: string | undefined): Html {
  return html`<input type="hidden" name="key" value="${key ?? context.randomUuid()}">`;
}

/** @throws InputError for a form without a key */
export function requireKey(key: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(key)
    ? key
    : refuse('start', 'The form is incomplete. Open this page again.');
}

/**
 * Opens the run that the form started, also when the form is sent again.
 *
 * @throws InputError with why the form has planned no run
 */
export function openStarted(start: Start): { to: string; notice: string } {
  switch (start.kind) {
    case 'key of another':
      return refuse('start', `This form started run ${start.run} already.`);
    case 'under way':
      return refuse(
        'start',
        'This form was sent already, and its run is being planned. Press the button again in a moment: it opens that run, and starts no other.',
      );
    case 'planned':
    case 'repeated': {
      const next = start.waitsForApproval ? ', and waits for approval.' : '; workers send it.';
      return { to: runPath(start.run), notice: `The run is planned${next}` };
    }
  }
}
