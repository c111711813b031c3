/** `UCS-2` as soon as one character is not in GSM-7. */
export type SmsEncoding = 'GSM-7' | 'UCS-2';

/** What makes an SMS longer than GSM-7 characters of one septet would. */
export type SmsCause =
  /** `instead` is empty if the character is best left out. */
  | { readonly kind: 'character'; readonly character: string; readonly instead: string }
  /** Letters that GSM-7 cannot spell. Without them means: as many letters of GSM-7. */
  | { readonly kind: 'letters'; readonly script: string };

/** `column` is null for the campaign's own text. */
export type PlacedCause = SmsCause & { readonly column: string | null };

/** `parts` and `cost` are what messages would have less without the causes. `cost` is null if it is not known. */
export type PartCosts = {
  readonly recipients: number;
  readonly parts: number;
  readonly cost: string | null;
};

/** Recipients whose texts have the same causes, in the encoding that these give. */
export type PartCauseGroup = PartCosts & {
  readonly encoding: SmsEncoding;
  readonly causes: readonly PlacedCause[];
};

/** The SMS parts of a plan that only some characters cause. */
export type PartCauses = Omit<PartCosts, 'recipients'> & {
  readonly currency: string | null;
  /** Those with the most parts first; at most 20. */
  readonly groups: readonly PartCauseGroup[];
  /** The sum of further groups; null when all are shown. */
  readonly others: PartCosts | null;
};
