import { createClient } from 'graphql-ws'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { atTheEnd } from '../support/at-the-end.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { mutate } from '../support/filled-organization.ts'
import { startMailServer } from '../support/mail-server.ts'

const mail = await startMailServer()
atTheEnd(() => mail.close())
const { app, organization } = await testConsole({ SMTP_URL: mail.url, MAIL_FROM: 'status@allclear.example' })
const url = app.baseUrl
const openTab = useChromium()

let pages = 0
/** A page of a separate organization, with the actions of its owner. */
async function privatePage(access: Record<string, unknown>) {
  const slug = `closed-${++pages}`
  const acme = await organization(slug)
  const { id: serviceId } = await mutate(url, acme.key, 'createService', 'Service', { name: 'Secret service' })
  const { statusPage } = (await (await acme.signIn('OWNER')).graphql(`{ statusPage(slug: "${slug}") { id } }`))
    .data as {
    statusPage: { id: string }
  }
  const pageId = statusPage.id
  const setAccess = (access: Record<string, unknown>) =>
    mutate(url, acme.key, 'updatePageAccess', 'PageAccess', { pageId, access }, 'kind')
  await setAccess(access)
  return { ...acme, slug, pageId, serviceId, path: `/status/${slug}`, setAccess }
}
type PrivatePage = Awaited<ReturnType<typeof privatePage>>

const SIGNED_OUT = 'You were signed out, or your role has changed.'
const CLOSED = 'You no longer have access to this status page.'

/** A kind of reader: how they open the page, what ends their access, and what the page then requires. */
interface Reader {
  readonly access: Record<string, unknown>
  open(page: Page, of: PrivatePage): Promise<unknown>
  end(of: PrivatePage): Promise<unknown>
  /** The reason with which their connections are closed. */
  readonly reason?: string
  readonly asks: RegExp
}

const members = new Map<string, { readonly userId: string; readonly token: string }>()
async function signInAsMember(page: Page, of: PrivatePage) {
  const member = await of.signIn('VIEWER')
  members.set(of.slug, member)
  await page.context().addCookies([{ name: 'allclear_session', value: member.token, url }])
  await page.goto(url + of.path)
}

const tokens = new Map<string, { readonly id: string }>()
const readers: Record<string, Reader> = {
  'a password that is changed': {
    access: { kind: 'PASSWORD', password: 'correct horse' },
    async open(page, { path }) {
      await page.goto(url + path)
      await page.getByLabel('Password').fill('correct horse')
      await page.getByRole('button', { name: 'Open' }).click()
    },
    end: ({ setAccess }) => setAccess({ kind: 'PASSWORD', password: 'another horse' }),
    asks: /Password/,
  },
  'a mailed link, whose domain is taken away': {
    access: { kind: 'MAIL_DOMAIN', mailDomains: ['acme.example', 'other.example'] },
    async open(page, { path }) {
      await page.goto(url + path)
      await page.getByLabel('Email').fill('ada@acme.example')
      await page.getByRole('button').first().click()
      const [arrived] = await mail.arrived(1, ({ envelopeTo }) => envelopeTo === 'ada@acme.example')
      await page.goto(/http\S+\/access\/[\w-]{43}/.exec(arrived?.text ?? '')?.[0] ?? '')
      await page.getByRole('button', { name: 'Open' }).click()
    },
    end: ({ setAccess }) => setAccess({ kind: 'MAIL_DOMAIN', mailDomains: ['other.example'] }),
    asks: /Email/,
  },
  'a network that is taken off the list': {
    access: { kind: 'ADDRESSES', ranges: ['127.0.0.0/8', '::1/128'] },
    open: (page, { path }) => page.goto(url + path),
    end: ({ setAccess }) => setAccess({ kind: 'ADDRESSES', ranges: ['192.0.2.0/24', '2001:db8::/48'] }),
    asks: /network/,
  },
  'membership of a person who is removed': {
    access: { kind: 'MEMBERS' },
    open: signInAsMember,
    async end(of) {
      const owner = await of.signIn('OWNER')
      const userId = members.get(of.slug)?.userId
      const { data } = await owner.graphql(
        `mutation ($organization: ID!, $userId: ID!) {
          removeMember(input: { organizationId: $organization, userId: $userId }) { __typename ... on Error { message } }
        }`,
        { organization: of.organization.id, userId },
      )
      expect(data).toMatchObject({ removeMember: { __typename: 'Member' } })
    },
    reason: SIGNED_OUT,
    asks: /Sign in to read it/,
  },
  'membership of a person whose sessions end': {
    access: { kind: 'MEMBERS' },
    open: signInAsMember,
    end: ({ slug }) =>
      fetch(`${url}/sign-out`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: `allclear_session=${members.get(slug)?.token}`, 'sec-fetch-site': 'same-origin' },
      }),
    reason: SIGNED_OUT,
    asks: /Sign in to read it/,
  },
  'a read token that is revoked': {
    access: { kind: 'MEMBERS' },
    async open(page, of) {
      const created = await mutate<{ id: string; secret: string }>(
        url,
        of.key,
        'createPageToken',
        'CreatePageTokenPayload',
        { pageId: of.pageId, name: 'Wall display' },
        'id secret',
      )
      tokens.set(of.slug, created)
      await page.goto(`${url}${of.path}?token=${created.secret}`)
    },
    end: ({ key, slug }) => mutate(url, key, 'revokePageToken', 'PageToken', { id: tokens.get(slug)?.id }),
    asks: /Sign in to read it/,
  },
  'nothing, until it is closed': {
    access: { kind: 'PUBLIC' },
    open: (page, { path }) => page.goto(url + path),
    end: ({ setAccess }) => setAccess({ kind: 'PASSWORD', password: 'correct horse' }),
    asks: /Password/,
  },
}

/** Returns the headers with which a program has the same access as the browser. */
async function credentialsOf(page: Page): Promise<Record<string, string>> {
  const cookies = await page.context().cookies(url)
  const token = new URL(page.url()).searchParams.get('token')
  return {
    origin: url,
    ...(cookies.length > 0 && { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  }
}

/** Follows a page over a socket; resolves with the close code. */
function socketOf(headers: Record<string, string>, query: string) {
  class Socket extends WebSocket {
    constructor(address: string, protocol: string) {
      super(address, protocol, { headers })
    }
  }
  const client = createClient({ url: `${url.replace(/^http/, 'ws')}/graphql`, webSocketImpl: Socket, retryAttempts: 0 })
  const closed = new Promise<string>((resolve) => {
    client.on('closed', (event) => {
      const { code, reason } = event as { code: number; reason: string }
      resolve(`${code} ${reason}`)
    })
  })
  const begun = new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query },
      { next: ({ errors }) => (errors ? reject(errors) : resolve()), error: reject, complete: () => {} },
    )
  })
  return { begun, closed }
}

/** Follows a page by server-sent events: resolves with the first event, and with the whole text at the end. */
async function eventsOf(headers: Record<string, string>, query: string) {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  })
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const read = async (text: string): Promise<string> => {
    const { value, done } = await reader.read()
    return done ? text : read(text + decoder.decode(value, { stream: true }))
  }
  let begun = ''
  while (!begun.includes('event: next')) begun += decoder.decode((await reader.read()).value, { stream: true })
  return { rest: read('').catch(() => '') }
}

describe.each(Object.entries(readers))('a page that opens by %s', (_, { access, open, end, asks, reason = CLOSED }) => {
  test('is closed for everyone who reads it that way, over sockets, events and in a browser', async () => {
    const of = await privatePage(access)
    await using tab = await openTab((asked) => asked.startsWith(url))
    const { page } = tab
    // Survives a reload of the page.
    await page.addInitScript(() => {
      const Original = window.WebSocket
      window.WebSocket = class extends Original {
        constructor(address: string | URL, protocol?: string | string[]) {
          super(address, protocol)
          this.addEventListener('close', ({ code }) =>
            sessionStorage.setItem('closed', `${sessionStorage.getItem('closed') ?? ''} ${code}`),
          )
        }
      }
    })
    await open(page, of)
    await page.locator('#live[data-state=live]').waitFor()
    expect(await page.content()).toContain('Secret service')
    const headers = await credentialsOf(page)
    const query = `subscription { statusPageEvents(slug: "${of.slug}", after: "0") { cursor } }`
    const socket = socketOf(headers, query)
    const [events] = await Promise.all([eventsOf(headers, query), socket.begun])

    await end(of)
    expect(await socket.closed).toBe(`4403 ${reason}`)
    // Readers do not get the event of the change itself either.
    expect(await events.rest).not.toContain('event: next')
    await page.getByRole('heading', { name: 'This page is private' }).waitFor()
    expect(await page.locator('main').textContent()).toMatch(asks)
    expect(await page.content()).not.toMatch(/Secret service/)
    // A socket that the page opens again before it reloads is closed with the page.
    expect(await page.evaluate(() => sessionStorage.getItem('closed'))).toContain('4403')

    // None of them gets back in.
    expect((await fetch(url + of.path, { headers: { ...headers, accept: 'text/html' } })).status).toBe(401)
    await expect(socketOf(headers, query).begun).rejects.toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
  })
})
