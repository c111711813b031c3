export const deliveryOutcomes = ['delivered', 'undelivered'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** How a report came: the service called us, or was asked by us. */
export const deliveryReportMethods = ['POST', 'GET', 'LOOK-UP'] as const;
export type DeliveryReportMethod = (typeof deliveryReportMethods)[number];

/**
 * What became of a report: it decided, said what was known, said something else than the first, matched no recipient, is a
 * reply, cannot be read, or was refused by the ledger.
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

/** What is stored of a single recipient: a delivery report's outcome, or that it was left out of its request. */
export const recipientOutcomes = [...deliveryOutcomes, 'cancelled'] as const;
