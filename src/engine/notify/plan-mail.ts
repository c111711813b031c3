import { dispatch } from '../../campaign/dispatch.ts';
import type { FrozenTarget } from '../../campaign/notify.ts';
import { createAddressReader } from '../../contacts/address.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import type { Account } from '../../gateway/account.ts';
import { stageContacts } from '../../ledger/planning/stage-contacts.ts';
import type { EngineContext } from '../context.ts';
import { type AlongsideRun, makeRun } from '../plan/make-run.ts';

export type Mail = { readonly subject: string; readonly text: string };

type EmailTarget = Extract<FrozenTarget, { kind: 'email' }>;

/** Characters that services accept (docs/reference/interfaces.md, "Ranges and values"). The run's report has the rest. */
const maxTextLength = 9_000;
const maxSubjectLength = 200;

const mailCampaign = (campaign: string): string => `${campaign} (summary)`;

/**
 * Plans an e-mail as a run of its own, with one request. It needs no approval and notifies no one.
 *
 * @param alongside is committed with the run; if it throws, there is no run
 * @returns the run's id
 */
export async function planMail(
  context: EngineContext,
  {
    account,
    campaign,
    target: { to, fields },
    mail,
    alongside,
  }: {
    readonly account: Account;
    readonly campaign: string;
    readonly target: EmailTarget;
    readonly mail: Mail;
    readonly alongside: AlongsideRun;
  },
): Promise<string> {
  const settings = dispatch.parse(undefined);
  const envelope = {
    fields: { ...fields, EmailSubject: subjectOf(mail), MessagePlain: withoutPlaceholders(textOf(mail)) },
    keypads: [],
    files: [],
    audio: {},
  };
  const definition = {
    campaign: mailCampaign(campaign),
    account: account.name,
    channel: 'email' as const,
    message: envelope.fields,
    files: [],
    dispatch: settings,
  };
  return makeRun(context, {
    campaign: definition.campaign,
    channel: definition.channel,
    definition,
    account,
    alongside,
    stage: async (client, { tariffs }) => {
      await stageContacts(client, {
        contacts: inOneBatch(contactsOf(to, envelope)),
        linesBefore: () => 0,
        partsOf: () => null,
        keyed: false,
        tariffOf: tariffs.tariffIndexOf,
        takePieces: async () => [],
      });
      return {
        chunkSize: settings.chunkSize,
        recipientColumn: 'to',
        identity: { key: [], duplicates: 'merge' },
        frequencyCaps: [],
        contactFiles: [],
        sourceRun: null,
        origins: [],
        files: { kind: 'none' },
        check: () => undefined,
      };
    },
  });
}

/** One contact for each address, as from lines of a file. */
function contactsOf(to: readonly string[], envelope: Envelope): Contact[] {
  const read = createAddressReader('email', undefined);
  return to.map((written, index): Contact => {
    const address = read?.(written);
    const source = { file: 0, line: index + 1 };
    if (address?.kind === 'valid')
      return {
        ...source,
        kind: 'contact',
        address: address.address,
        originalAddress: written,
        envelope,
        destination: {},
      };
    const detail = address?.detail ?? '';
    return { ...source, kind: 'rejected', column: 'to', reason: 'invalid', detail };
  });
}

async function* inOneBatch(contacts: readonly Contact[]): AsyncGenerator<readonly Contact[]> {
  yield contacts;
}

function subjectOf({ subject }: Mail): string {
  return truncate(withoutPlaceholders(subject.replaceAll(/\s+/g, ' ')), maxSubjectLength);
}

function textOf({ text }: Mail): string {
  return text.length <= maxTextLength ? text : `${truncate(text, maxTextLength)}\n…`;
}

/** Half of a surrogate pair cannot be stored. */
function truncate(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

/** The service would replace placeholders in quoted text. */
function withoutPlaceholders(text: string): string {
  return text.replaceAll('[[', '[ [');
}
