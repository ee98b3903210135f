// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files contain such placeholders.
import { describe, expect, test } from 'vitest'
import { literalSecrets } from '../../src/configuration/literal-secrets.ts'

const monitor = (member: string, options: unknown) => ({ monitors: { 'api-1': { name: 'API', [member]: options } } })
const header = (name: string, value: unknown) =>
  monitor('http', {
    headers: [
      { name: 'Accept', value: 'a' },
      { name, value },
    ],
  })
const channel = (member: string, address: unknown) => ({ channels: { team: { name: 'Team', [member]: address } } })
const found = (file: unknown) => literalSecrets(file).map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('literal secrets in a file', () => {
  test.each<readonly [file: unknown, path: string, name: string]>([
    [header('Authorization', 'Bearer abc'), 'monitors.api-1.http.headers.1.value', 'API_1_AUTHORIZATION'],
    [header('X-Api-Key', 'abc'), 'monitors.api-1.http.headers.1.value', 'API_1_X_API_KEY'],
    [header('X-Shop', ' basic YTpi'), 'monitors.api-1.http.headers.1.value', 'API_1_X_SHOP'],
    [header('Cookie', '$${SESSION}'), 'monitors.api-1.http.headers.1.value', 'API_1_COOKIE'],
    [
      monitor('http', { oauth: { clientSecret: 'a' } }),
      'monitors.api-1.http.oauth.clientSecret',
      'API_1_CLIENT_SECRET',
    ],
    [monitor('http', { clientCertificate: { key: 'a' } }), 'monitors.api-1.http.clientCertificate.key', 'API_1_KEY'],
    [monitor('http', { proxy: { password: 'a' } }), 'monitors.api-1.http.proxy.password', 'API_1_PASSWORD'],
    ...['redis', 'mysql', 'mongodb', 'postgresql', 'mqtt'].map(
      (kind) => [monitor(kind, { password: 'a' }), `monitors.api-1.${kind}.password`, 'API_1_PASSWORD'] as const,
    ),
    [channel('slack', { url: 'https://hooks.slack.com/x' }), 'channels.team.slack.url', 'TEAM_URL'],
    [channel('ntfy', { topic: 'ops' }), 'channels.team.ntfy.topic', 'TEAM_TOPIC'],
    [channel('ntfy', { topic: 'ops', token: 'tk_a' }), 'channels.team.ntfy.token', 'TEAM_TOKEN'],
    [channel('telegram', { botToken: 'a', chatId: '1' }), 'channels.team.telegram.botToken', 'TEAM_BOT_TOKEN'],
    [channel('matrix', { accessToken: 'a' }), 'channels.team.matrix.accessToken', 'TEAM_ACCESS_TOKEN'],
  ])('refuses %j with the path and a suggested variable', (file, path, name) => {
    const message = `is a secret: replace it with \${${name}} and set ${name} in the environment`
    expect(found(file)).toEqual([`${path}: ${message}`])
  })

  test.each([
    header('Authorization', 'Bearer ${TOKEN}'),
    header('Authorization', null),
    header('Authorization', ''),
    header('X-Team', 'shop'),
    monitor('http', { body: '{"query":"{a}"}' }),
    monitor('tcp', { send: 'EHLO' }),
    monitor('redis', { password: '${A}${B}' }),
    channel('mail', { address: 'a@example.com' }),
    channel('push', { userIds: ['usr_a'] }),
    channel('ntfy', { topic: 'ops', token: '${TOKEN}' }),
    channel('webhook', { url: 'https://hooks.example.com/${PATH}' }),
  ])('accepts %j', (file) => {
    expect(found(file)).toEqual([])
  })

  test('messages never repeat the secret, and there are at most 100', () => {
    const secrets = Array.from({ length: 500 }, (_, index) => [`m${index}`, { redis: { password: 'sesame' } }])
    const all = found({ monitors: Object.fromEntries(secrets) })
    expect(all).toHaveLength(100)
    expect(all.join()).not.toContain('sesame')
  })

  test.each([
    null,
    [],
    'text',
    { monitors: [] },
    { monitors: { a: null, b: 'text', c: [] }, channels: { a: { slack: 'text' } } },
    monitor('http', { headers: 'text', oauth: [] }),
    monitor('http', { headers: [null, 'text', { name: null, value: 1 }, { name: { a: 1 }, value: ['a'] }] }),
    JSON.parse('{"monitors":{"__proto__":{"redis":{"password":"a"}}}}'),
    channel('ntfy', { topic: { a: 1 }, token: 7 }),
  ])('accepts files of any shape: %j', (file) => {
    expect(() => found(file)).not.toThrow()
  })
})
