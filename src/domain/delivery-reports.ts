export const deliveryOutcomes = ['delivered', 'undelivered'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** How a delivery report arrived: a call of the service, or a look-up. */
const deliveryReportMethods = ['POST', 'GET', 'LOOK-UP'] as const;
export type DeliveryReportMethod = (typeof deliveryReportMethods)[number];

/**
 * `applied` decided the outcome, `unchanged` repeated it, `conflicting` contradicted the first; `inbound` is a
 * reply; the ledger refused a `failed` one.
 */
export const deliveryReportStates = [
  'applied',
  'unchanged',
  'conflicting',
  'unmatched',
  'inbound',
  'unreadable',
  'failed',
] as const;
export type DeliveryReportState = (typeof deliveryReportStates)[number];

/** Counts delivery reports of all accounts, because they wait in one queue. */
export type UnappliedReports = {
  /** Due for longer than a minute: no process applies them, or none can. */
  readonly waiting: number;
  /** When the first of them was due; null if none waits. */
  readonly since: Date | null;
  /** Postgres refused each of them by itself: they are dead letters. */
  readonly failed: number;
};

/** Outcomes stored for single recipients. `cancelled`: removed from its request before sending. */
export const recipientOutcomes = [...deliveryOutcomes, 'cancelled'] as const;

/** The observed formats of a webhook call. */
export const deliveryReportFormats = ['json', 'xml', 'post', 'get'] as const;
export type DeliveryReportFormat = (typeof deliveryReportFormats)[number];
