import { expect, test } from 'vitest'
import { refusalSubject } from '../../../src/notification/channel/smtp-reply.ts'

const RCPT = 'RCPT TO:<ada@reader.example>'

/** Replies as large servers send them, to the recipient and after the message. */
test.each([
  // The mailbox or its domain does not exist.
  [
    '550 5.1.1 <ada@reader.example>: Recipient address rejected: User unknown in virtual mailbox table',
    RCPT,
    'ADDRESS',
  ],
  ['550-5.1.1 The email account that you tried to reach does not exist.', RCPT, 'ADDRESS'],
  ['550 5.1.2 Bad destination system: no such domain', RCPT, 'ADDRESS'],
  ['553 5.1.3 Invalid address syntax', RCPT, 'ADDRESS'],
  ['551 5.1.6 Recipient has moved', RCPT, 'ADDRESS'],
  ['556 5.1.10 Recipient address has a null MX', RCPT, 'ADDRESS'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup', 'DATA', 'ADDRESS'],
  ['550 5.4.1 Recipient address rejected: Access denied. [AS(201806281)]', RCPT, 'ADDRESS'],
  ['550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).', RCPT, 'ADDRESS'],
  ['550 5.2.1 The email account that you tried to reach is disabled.', RCPT, 'ADDRESS'],
  ['550 Requested action not taken: mailbox unavailable', RCPT, 'ADDRESS'],
  ["554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]", 'DATA', 'ADDRESS'],
  [
    '550 Message was not accepted -- invalid mailbox. Local mailbox ada@mail.example is unavailable: user not found',
    'DATA',
    'ADDRESS',
  ],
  ['550 No such user here', RCPT, 'ADDRESS'],
  // It may pass.
  ['552 5.2.2 Mailbox full', RCPT, 'MOMENT'],
  ['552 5.2.2 The email account that you tried to reach is over quota.', 'DATA', 'MOMENT'],
  ['552 Quota exceeded (mailbox for user is full)', RCPT, 'MOMENT'],
  ['450 4.2.1 Try later', RCPT, 'MOMENT'],
  ['451 4.7.1 Greylisting in action, please come back later', RCPT, 'MOMENT'],
  ['452 4.2.2 Mailbox full', RCPT, 'MOMENT'],
  // Our own affair.
  ['550 5.7.1 Service unavailable; client host [192.0.2.1] blocked using zen.spamhaus.org', RCPT, 'US'],
  ['554 5.7.1 <ada@reader.example>: Relay access denied', RCPT, 'US'],
  ['550 5.7.26 This mail is unauthenticated, which poses a security risk', 'DATA', 'US'],
  ['550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification', 'DATA', 'US'],
  ['530 5.7.0 Authentication required', RCPT, 'US'],
  [
    '554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1',
    'DATA',
    'US',
  ],
  ['553 5.1.8 <status@page.example>: Sender address rejected: Domain not found', RCPT, 'US'],
  ['550 5.1.7 Invalid sender', RCPT, 'US'],
  ['552 5.3.4 Message too big for system', 'DATA', 'US'],
  ['550 5.6.0 Lone CR or LF in the body', 'DATA', 'US'],
  ['550 Administrative prohibition', RCPT, 'US'],
  ['554 No SMTP service here', RCPT, 'US'],
  ['535 5.7.8 Authentication failed', 'AUTH PLAIN', 'US'],
  ['553 5.1.1 Sender unknown', 'MAIL FROM:<status@page.example>', 'US'],
  ['421 4.7.0 Too many connections', '', 'US'],
] as const)('%s', (text, command, subject) => {
  expect(refusalSubject({ status: Number(text.slice(0, 3)), text, command })).toBe(subject)
})

test('no reply at all is our own affair', () => {
  expect(refusalSubject({ status: null, text: 'connect ECONNREFUSED', command: RCPT })).toBe('US')
})
