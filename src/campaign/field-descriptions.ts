const spoken = 'Voice: the path of a WAV file, 16-bit, 8000 Hz. Text to speech: the text.';

/** What each message field is for, as editors show it: interface.md, sections 2.1, 2.4–2.8 and 2.10, in a line. */
const descriptions: Readonly<Record<string, string>> = {
  Reference: 'Free text of your own, on every report. At most 80 characters.',
  WebhookCallbackURL: "Where delivery reports go, in place of the sender's default. Begins with https://.",
  WebhookCallbackFormat: 'Format of the delivery reports: JSON or XML.',
  SendTime: "When the service sends, such as 2026-11-21T18:30, in the sender's zone or that of TimeZone.",
  TimeZone: "The zone of SendTime, as a region name, in place of the sender's default.",
  SubAccount: 'For reporting, billing and the dashboard. At most 40 characters were seen.',
  Department: 'Like SubAccount. At most 40 characters were seen.',
  ChargeCode: 'Whom the invoice is charged to.',
  EmailSubject: 'Email: the subject. At most 1024 characters were seen.',
  SMTPFrom: 'Email: the address that bounces go to; FromEmail by default.',
  From: "Email: the sender's name, as the recipient sees it.",
  FromEmail: "Email: the sender's address, as the recipient sees it; the account's own by default.",
  CCEmail: 'Email: an address that gets a copy.',
  ReplyTo: 'Email: the address that replies go to.',
  MessagePlain: 'Email: the text part. One of MessagePlain, MessageHTML and Template is needed.',
  MessageHTML:
    'Email: the HTML part; values put into it are HTML-escaped. Comes before MessagePlain and Template.',
  TemplateLocation: 'Email: the folder of a template that the service has.',
  Template: 'Email: the name of a template that the service has, used when there is no other text.',
  Message: 'SMS: the text (needed). Fax: a text to send, where there are no files.',
  FromNumber: 'SMS: the number it comes from. Short codes override it in New Zealand.',
  SMSEmailReply: 'SMS: the e-mail address that is told of replies.',
  CharacterConversion: 'SMS: true turns characters outside GSM into similar ones, such as © into (C).',
  Resolution: 'Fax: Low or High.',
  CSID: 'Fax: the station identifier of the sender. At most 30 characters were seen.',
  RetryAttempts: 'Fax: how often the service tries again, 0 to 5. Calls: how often it calls again.',
  RetryPeriod: 'Fax: minutes between two tries, 0 to 60. Calls: the time between two calls.',
  SendMode:
    "Test for a simulated send; Normal otherwise. Earlier REST interfaces; rest-2.02 where the account's `allow` has it.",
  Mode: 'In rest-2.02: another name of SendMode.',
  MessageToPeople: `Played when a person answers; needed. ${spoken}`,
  MessageToAnswerphones: `Played when an answering machine answers. ${spoken}`,
  CallRouteMessageToPeople: `Played to the person who pressed a button of Keypads. ${spoken}`,
  CallRouteMessageToOperators: `Played to the operator who answers the connected call. ${spoken}`,
  CallRouteMessageOnWrongKey: `Played when a button without a number is pressed. ${spoken}`,
  NumberOfOperators: 'Calls: how many may be made at the same time.',
  CallerID: 'Calls: the number they come from, in international form such as +6491234567.',
  Voice: 'Text to speech: the name of the voice.',
  Options: 'Calls: free text for settings agreed with the service.',
  EndTime: 'SOAP text to speech: when calling ends, such as 2026-11-21T20:00.',
  ForceGSMChars: 'SMS in earlier REST interfaces: another name of CharacterConversion.',
};

/** @throws Error for a key without a description, so that a developer who adds one must describe it */
export function describeMessageKey(key: string): string {
  const description = descriptions[key];
  if (description === undefined) throw new Error(`The message field ${key} has no description.`);
  return description;
}
