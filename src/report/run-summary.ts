import { type RunSummary, recipientStates, requestStates } from '../domain.ts';

/** A run in a few lines: every state that is not empty. */
export function runSummaryText({ run, campaign, state, contacts, requests, recipients }: RunSummary): string {
  const left = [
    [contacts.invalid, 'invalid'],
    [contacts.duplicate, 'duplicate'],
    [contacts.suppressed, 'suppressed'],
  ] as const;
  return [
    `Run ${run}  ${campaign}  ${state}`,
    `  contacts    ${counted(contacts.read, left, 'read')}`,
    `  requests    ${counted(
      requests.total,
      requestStates.map((name) => [requests[name], name] as const),
    )}`,
    `  recipients  ${counted(
      recipients.total,
      recipientStates.map((name) => [recipients[name], name] as const),
    )}`,
  ].join('\n');
}

function counted(total: number, parts: readonly (readonly [number, string])[], word = ''): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name.replace('_', ' ')}`);
  const head = word === '' ? String(total) : `${total} ${word}`;
  return shown.length === 0 ? head : `${head}: ${shown.join(', ')}`;
}
