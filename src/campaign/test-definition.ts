import type { LeftOutGroup } from '../domain/rejected-contacts.ts';
import type { Definition } from './definition.ts';
import { fieldNameOf } from './message-keys.ts';
import { hasPlaceholder } from './placeholders.ts';

/** Fields that may have an address or a number to which the service, or a reader's answer, sends something. */
const addressFields: readonly string[] = [
  'CCEmail',
  'ReplyTo',
  'SMTPFrom',
  'FromEmail',
  'SMSEmailReply',
  'FromNumber',
  'CallerID',
  // Settings agreed with the service; it may call a number in them.
  'Options',
];

/** Fields in which even an address that is the same for all rows would get a copy. */
const copyFields: readonly string[] = ['CCEmail'];

/** A test is sent at once. */
export const timeFields: readonly string[] = ['SendTime', 'TimeZone'];

type Contacts = Definition['contacts'];
type CauseInTrials = {
  /** What a test sets, so that the cause leaves out no row that was chosen; empty: the cause applies to tests too. */
  readonly inTest: Partial<Contacts>;
  /** The key with which a run in the sandbox would leave recipients out of a real one. */
  readonly countsSandbox?: 'notWithin';
};

/** What trials do about each cause of leaving out a valid contact. A new cause does not compile without its line. */
export const causesInTrials: Readonly<Record<LeftOutGroup, CauseInTrials>> = {
  suppressed: { inTest: {} },
  listed: { inTest: {} },
  // A test assigns its rows in turn, so that each variant that is sent is seen.
  'control group': { inTest: {} },
  'sent recently': { inTest: { notWithin: undefined }, countsSandbox: 'notWithin' },
  // A test has no caps (`stageCampaign`).
  'over frequency': { inTest: {} },
  'over daily limit': { inTest: {} },
  // Only contacts that are fixed, or sent again, are compared with earlier runs.
  reached: { inTest: {} },
  repeated: { inTest: { key: [], duplicates: 'allow' } },
};

const withoutCauses: Partial<Contacts> = Object.assign(
  {},
  ...Object.values(causesInTrials).map(({ inTest }) => inTest),
);

type TestDefinition = {
  readonly definition: Definition;
  /** Keys of the message that the test changes or leaves out. */
  readonly leftOut: readonly string[];
};

/**
 * The campaign as a test sends it: to one's own addresses, now. Rules that protect recipients, or report a run to
 * others, do not apply. No value of a row can be an address.
 *
 * @param routeNumber the number that keypads with a row's number call instead
 */
export function toTestDefinition(definition: Definition, routeNumber: string): TestDefinition {
  const { contacts, dispatch, variants } = definition;
  const { message, leftOut } = toTestMessage(definition.message, routeNumber);
  const ofVariants = variants?.map((each) => toTestMessage(each.message ?? {}, routeNumber));
  return {
    definition: {
      ...definition,
      contacts: {
        ...contacts,
        ...withoutCauses,
        maxInvalid: { share: 1 },
        minRecipients: 0,
      },
      message,
      variants: variants?.map((each, index) => ({ ...each, message: ofVariants?.[index]?.message })),
      until: undefined,
      dispatch: { ...dispatch, repeat: 'allow' },
      window: undefined,
      deadline: undefined,
      approval: undefined,
      notify: undefined,
    },
    leftOut: [...new Set([leftOut, ...(ofVariants ?? []).map((each) => each.leftOut)].flat())],
  };
}

function toTestMessage(
  message: Definition['message'],
  routeNumber: string,
): Pick<Definition, 'message'> & Pick<TestDefinition, 'leftOut'> {
  const { Keypads: keypads, ...texts } = message;
  const leftOut = Object.entries(texts).flatMap(([key, written]) =>
    timeFields.includes(key) || isRowAddress(key, written) ? [key] : [],
  );
  const routed = keypads?.map((keypad) =>
    hasPlaceholder(keypad.RouteNumber) ? { ...keypad, RouteNumber: routeNumber } : keypad,
  );
  const isRouted = keypads?.some(({ RouteNumber }) => hasPlaceholder(RouteNumber)) === true;
  return {
    message: {
      ...Object.fromEntries(Object.entries(texts).filter(([key]) => !leftOut.includes(key))),
      ...(routed && { Keypads: routed }),
    },
    leftOut: [...leftOut, ...(isRouted ? ['Keypads'] : [])],
  };
}

function isRowAddress(key: string, written: unknown): boolean {
  const name = fieldNameOf(key) ?? key;
  if (typeof written !== 'string' || !addressFields.includes(name)) return false;
  return copyFields.includes(name) || hasPlaceholder(written);
}
