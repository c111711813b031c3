import type { ReconciliationLine } from '../ledger/billing/reconcile.ts';
import { reasonWords } from '../platform/reason-words.ts';

/** What the ledger knows of a line that differs, in words; null where the figures say it all. */
export function differenceWords(line: ReconciliationLine): string | null {
  const { kind, known } = line;
  switch (kind) {
    case 'twice in the invoice':
      return `line ${known.firstLine} has it already`;
    case 'missing there':
      return `${known.outcome ?? 'accepted'}, sent ${known.sent}`;
    case 'other period':
      return `sent ${known.sent}, price ${known.price ?? 'not reported'}`;
    case 'other price': {
      const words = [
        ...(known.price === null ? ['no price was reported'] : []),
        ...(known.sameUnits || line.invoicedUnits === null ? [] : ['other units too']),
      ];
      return words.join(', ') || null;
    }
    case 'other units':
      return known.hasUnits ? null : 'no units were reported';
    case 'unknown':
      return unknownWords(line);
    case 'missing here':
      return missingWords(line);
  }
}

function unknownWords({ run, request, known }: ReconciliationLine): string {
  if (known.purged) return 'the run was purged, so its recipients are not known';
  if (known.state === 'in_doubt')
    return `in doubt here, and the invoice says the service has it: volley resolve ${run} --request ${request} --accepted --reason "in the invoice"`;
  if (known.state === 'sending') return 'being sent';
  return `given up here, and the invoice says the service has it${because(known)}`;
}

function missingWords({ run, known }: ReconciliationLine): string {
  if (run === null) return 'no request has this MessageID';
  if (known.outcome === 'cancelled') return 'left out of the request: suppressed since the run was planned';
  if (known.hasRecipient) return `the request is ${known.state}${because(known)}`;
  if (known.divided) return 'the request was rejected and divided: its recipients have other MessageIDs';
  return 'the request has no such recipient';
}

function because({ reason }: ReconciliationLine['known']): string {
  return reason === null ? '' : `: ${reasonWords(reason)}`;
}
