import type { GeneralStep, NextStep, Step } from '../../domain/next-step.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { PageLink } from '../base/layout.ts';
import type { Viewer } from '../base/view.ts';
import { campaignPath, deliveryReportsPath, pathWith, runPath } from '../paths.ts';

/** A sentence with what is to be typed between backticks. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

const reports = (page: string, text: string): PageLink => ({ href: deliveryReportsPath(page), text });

/** Pages that do what a command does. Their texts go on in a sentence. */
const pages = {
  'replay reports': reports('replay', 'replay them'),
  'list missing reports': reports('missing', 'their runs'),
  'ask about missing reports': reports('missing', 'the page of a run'),
  'bill by run': { href: pathWith('/billing', { by: 'run' }), text: 'billing by run' },
  'list schedules': { href: '/campaigns', text: 'the campaigns' },
  'run campaign': { href: '/campaigns', text: '“Start now” there' },
  'change limits': { href: '/accounts', text: 'the page of accounts' },
  'read refusals': { href: '/accounts', text: 'the page of accounts' },
  'check health': { href: '/health', text: 'Health' },
} as const satisfies Readonly<Record<GeneralStep, PageLink>>;

function pageOf(step: Step): PageLink {
  switch (step.kind) {
    case 'status':
      return { href: runPath(step.run), text: `run ${step.run}` };
    case 'resolve':
      return { href: runPath(step.run, 'doubts'), text: `the doubts of ${step.run}` };
    case 'approve':
    case 'promote':
    case 'resume':
    case 'cancel':
      return { href: runPath(step.run, step.kind), text: `${step.kind} it` };
    case 'list reports':
      return { href: deliveryReportsPath('list', { state: step.state }), text: `the ${step.state} ones` };
    case 'check campaign':
      return { href: campaignPath(step.file), text: 'its page' };
    default:
      return pages[step.kind];
  }
}

function mayTake({ kind }: Step, { mayRun, mayApprove }: Viewer): boolean {
  if (kind === 'approve') return mayApprove;
  return mayRun || !['promote', 'resume', 'cancel', 'replay reports', 'run campaign'].includes(kind);
}

/** A sentence whose steps are links to the pages that take them. @param look of the links */
export function nextStepPart(next: NextStep, viewer: Viewer, look?: 'button'): readonly Html[] {
  const pieces = typeof next === 'string' ? [next] : next;
  return pieces.flatMap((piece) => {
    if (typeof piece === 'string') return withCode(piece);
    const { href, text } = pageOf(piece);
    if (!mayTake(piece, viewer)) return html`${text}`;
    return html`<a href="${href}"${look && html` class="${look}"`}>${text}</a>`;
  });
}
