import { formatReason } from '../domain/reasons.ts';
import type { ReconciliationLine } from '../ledger/billing/reconcile.ts';

/** What the ledger knows of the line; null when the figures say it all. */
export function formatDifference(line: ReconciliationLine): string | null {
  const words = formatKind(line);
  if (!line.details.test) return words;
  return words === null ? 'a test' : `a test; ${words}`;
}

function formatKind(line: ReconciliationLine): string | null {
  const { kind, details } = line;
  switch (kind) {
    case 'twice in the invoice':
      return `already on line ${details.firstLine}`;
    case 'not in the invoice':
      return `${details.outcome ?? 'accepted'}, sent ${details.sent}`;
    case 'other period':
      return `sent ${details.sent}, price ${details.price ?? 'not reported'}`;
    case 'other price': {
      const words = [
        ...(details.price === null ? ['no price was reported'] : []),
        ...(details.sameUnits || line.invoicedUnits === null ? [] : ['units differ too']),
      ];
      return words.join(', ') || null;
    }
    case 'other units':
      return details.hasUnits ? null : 'no units were reported';
    case 'unknown':
      return formatUnknown(line);
    case 'billed but not sent':
      return formatMissing(line);
  }
}

function formatUnknown({ run, request, details }: ReconciliationLine): string {
  if (details.purged) return 'the run was purged, so its recipients are not known';
  if (details.state === 'in_doubt')
    return `in doubt here, and the invoice says the service has it: volley resolve ${run} --request ${request} --accepted --reason "in the invoice"`;
  if (details.state === 'sending') return 'being sent';
  return `abandoned in Volley, and the invoice says the service has it${formatBecause(details)}`;
}

function formatMissing({ run, details }: ReconciliationLine): string {
  if (run === null) return 'no request has this MessageID';
  if (details.outcome === 'cancelled') return 'excluded from the request: suppressed after planning';
  if (details.hasRecipient) return `the request is ${details.state}${formatBecause(details)}`;
  if (details.divided) return 'the request was rejected and divided: its recipients have other MessageIDs';
  return 'the request has no such recipient';
}

function formatBecause({ reason }: ReconciliationLine['details']): string {
  return reason === null ? '' : `: ${formatReason(reason)}`;
}
