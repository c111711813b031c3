import { describe, expect, test } from 'vitest';
import { destinationFields } from '../../src/domain/message.ts';
import { messageFieldNames, messageFields } from '../../src/wire/fields.ts';
import { isServicePlaceholder, mergedByService } from '../../src/wire/service-merge.ts';
import { soapParts } from '../../src/wire/soap-tts.ts';

const names = (channel: 'email' | 'sms' | 'fax' | 'voice') =>
  messageFields('rest-2.02', channel).map(({ name }) => name);

describe('messageFields', () => {
  test('an email has the fields of interface.md, 2.1 and 2.4', () => {
    expect(names('email')).toEqual([
      'Reference',
      'WebhookCallbackURL',
      'WebhookCallbackFormat',
      'SendTime',
      'TimeZone',
      'SubAccount',
      'Department',
      'ChargeCode',
      'SendMode',
      'EmailSubject',
      'SMTPFrom',
      'From',
      'FromEmail',
      'CCEmail',
      'ReplyTo',
      'MessagePlain',
      'MessageHTML',
      'TemplateLocation',
      'Template',
    ]);
  });

  test('an SMS has the fields of 2.5 and a fax those of 2.6, after the common ones', () => {
    expect(names('sms').slice(9)).toEqual(['Message', 'FromNumber', 'SMSEmailReply', 'CharacterConversion']);
    expect(names('fax').slice(9)).toEqual(['Resolution', 'CSID', 'RetryAttempts', 'RetryPeriod', 'Message']);
  });

  test('a call has the fields of 2.7, with audio for voice and text for text-to-speech', () => {
    const call = (channel: 'voice' | 'tts') =>
      messageFields('rest-1.04', channel)
        .slice(7)
        .map(({ name, type }) => `${name} ${type}`);
    const shared = [
      'NumberOfOperators integer',
      'RetryAttempts integer',
      'RetryPeriod integer',
      'CallerID text',
    ];
    const parts = [
      'MessageToPeople',
      'MessageToAnswerphones',
      'CallRouteMessageToPeople',
      'CallRouteMessageToOperators',
      'CallRouteMessageOnWrongKey',
    ];
    expect(call('voice')).toEqual([...parts.map((name) => `${name} audio`), ...shared, 'Options text']);
    expect(call('tts')).toEqual([
      ...parts.map((name) => `${name} text`),
      ...shared,
      'Voice text',
      'Options text',
    ]);
  });

  test('SOAP has the parts of 2.10 in their order, together with credentials, numbers and keypads', () => {
    expect(soapParts.filter((part) => !part.startsWith('keypad_'))).toEqual([
      ...['sender', 'token', 'caller_id', 'reference', 'billing_account', 'number_of_operators'],
      ...['retry_attempts', 'retry_period', 'sendtime', 'endtime', 'phone_numbers', 'csv_file', 'voice'],
      ...['msg_to_people', 'msg_to_answer_phones', 'call_route_msg_to_operators', 'call_route_msg_to_people'],
      ...['call_route_msg_on_wrong_key', 'options'],
    ]);
    expect(soapParts.slice(-19, -17)).toEqual(['keypad_1_enabled', 'keypad_1_route_number']);
  });

  test('earlier versions write CharacterConversion as ForceGSMChars, and have no webhook', () => {
    const earlier = messageFields('rest-1.04', 'sms');
    expect(earlier.find(({ name }) => name === 'CharacterConversion')).toMatchObject({
      wireName: 'ForceGSMChars',
    });
    const missing = names('sms').filter((name) => !earlier.some((field) => field.name === name));
    expect(missing).toEqual(['WebhookCallbackURL', 'WebhookCallbackFormat']);
  });

  test('an interface without the channel has no fields', () => {
    expect(names('voice')).toEqual([]);
  });

  test('parts of the request, such as destinations, are not among the fields', () => {
    for (const name of ['MessageID', 'Destinations', 'Files']) expect(messageFieldNames).not.toContain(name);
  });

  test('limits are marked as contractual or observed', () => {
    const [reference] = messageFields('rest-2.02', 'sms').filter(({ name }) => name === 'Reference');
    const [subAccount] = messageFields('rest-2.02', 'sms').filter(({ name }) => name === 'SubAccount');
    expect(reference).toMatchObject({ limit: 80, source: 'interface' });
    expect(subAccount).toMatchObject({ limit: 40, source: 'observed' });
  });
});

test('the service merges every destination field except the recipient, into the text of an SMS only', () => {
  expect(mergedByService('rest-2.02', 'sms')).toEqual({
    field: 'Message',
    destinationFields: destinationFields.slice(1),
  });
  expect(mergedByService('rest-1.04', 'sms')).toEqual({ field: 'Message', destinationFields: [] });
  expect(mergedByService('rest-2.02', 'email')).toBeUndefined();
  expect(mergedByService('rest-2.02', 'fax')).toBeUndefined();
});

describe('isServicePlaceholder', () => {
  test.each(['File1', 'File12', 'Reply', 'REPLY', 'reply', 'STOP', 'Link:https://a.example/b?c=d'])(
    '%s is a placeholder of the service in an SMS',
    (name) => {
      expect(isServicePlaceholder('sms', name)).toBe(true);
      expect(isServicePlaceholder('email', name)).toBe(false);
    },
  );

  test.each(['File', 'File0', 'First Name', 'Stopped', 'Links', ''])(
    '%j is not a placeholder of the service',
    (name) => {
      expect(isServicePlaceholder('sms', name)).toBe(false);
    },
  );
});
