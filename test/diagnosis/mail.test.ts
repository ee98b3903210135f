import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { SMTPServerOptions } from 'smtp-server'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'
import { examineMail, judgeMail } from '../../src/diagnosis/mail.ts'
import { tryMailServer } from '../../src/notification/channel/mail-server-trial.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { createAuthority } from '../support/certificate.ts'

const certified = createAuthority().issue(['localhost'])

async function mailServer(options: SMTPServerOptions): Promise<string> {
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    ...certified,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss/word' ? done(null, { user: username }) : done(new Error('Wrong password')),
    ...options,
  })
  server.on('error', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atTheEnd(() => new Promise((resolve) => server.close(() => resolve())))
  return `127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

const starttls = await mailServer({})
const tls = await mailServer({ secure: true })
const plain = await mailServer({ disabledCommands: ['STARTTLS'], authOptional: true })
const UNCHECKED = '?tls.rejectUnauthorized=false'

test.each([
  [
    'STARTTLS and the login',
    `smtp://ana:p%40ss%2Fword@${starttls}${UNCHECKED}`,
    'MAIL_OK',
    'encrypted, with the login',
  ],
  ['TLS and the login', `smtps://ana:p%40ss%2Fword@${tls}${UNCHECKED}`, 'MAIL_OK', 'encrypted, with the login'],
  ['a server on this machine without either', `smtp://${plain}`, 'MAIL_OK', 'on this machine, without a login'],
  ['a wrong password', `smtp://ana:wrong@${starttls}${UNCHECKED}`, 'MAIL_LOGIN_REFUSED', 'Wrong password'],
  ['a self-signed certificate', `smtp://ana:x@${starttls}`, 'MAIL_CERTIFICATE_REFUSED', 'cannot be encrypted'],
  ['the same with TLS', `smtps://ana:x@${tls}`, 'MAIL_CERTIFICATE_REFUSED', 'cannot be encrypted'],
  ['TLS with a server that does not support it', `smtps://${plain}`, 'MAIL_CERTIFICATE_REFUSED', 'cannot be encrypted'],
  ['a login at a server that offers none', `smtp://ana:x@${plain}`, 'MAIL_LOGIN_REFUSED', plain],
  ['a closed port', 'smtp://127.0.0.1:9', 'MAIL_UNREACHABLE', 'ECONNREFUSED'],
])('%s', async (_, url, code, words) => {
  const finding = await examineMail(url)
  expect(finding).toMatchObject({ code, message: expect.stringContaining(words) })
  expect(JSON.stringify(finding)).not.toMatch(/p@ss|p%40ss/)
})

test('a server that accepts the login but refuses our email says why', async () => {
  const refused = await examineMail(`smtp://${plain}`, async () => '550 5.7.1 Relay access denied.')
  expect(refused).toMatchObject({ code: 'MAIL_REFUSED', severity: 'error' })
  expect(refused.message).toContain('refuses our email: 550 5.7.1 Relay access denied. Deliveries wait')
  expect(await examineMail('smtp://127.0.0.1:9', async () => '550')).toMatchObject({ code: 'MAIL_UNREACHABLE' })
})

test('reports missing mail settings', async () => {
  expect(await examineMail(undefined)).toMatchObject({ code: 'MAIL_NOT_SET_UP', severity: 'warning' })
})

test('warns about a remote server without STARTTLS', () => {
  const trial = { kind: 'accepted', isEncrypted: false, isLoggedIn: true } as const
  expect(judgeMail(trial, 'mail.example.com:25', false)).toMatchObject({ code: 'MAIL_NOT_ENCRYPTED' })
})

test.each([
  ['no SMTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['an endless greeting', '220-'.padEnd(2_000_000, 'x')],
  ['a refusal with control characters', '554 go \u001b[31maway\r\n'],
])('a server that greets with %s is unreachable', async (_, greeting) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(greeting)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atTheEnd(() => void server.close())
  const trial = await tryMailServer(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(trial).toMatchObject({ kind: 'failed', at: 'connection' })
  expect(JSON.stringify(trial).length).toBeLessThan(300)
  expect(JSON.stringify(trial)).not.toContain('u001b')
})
