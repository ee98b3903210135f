// @slow
import { describe, expect, test } from 'vitest'
import { emptyForm } from '../../../src/http/page/form.tsx'
import { wordsOf } from '../../../src/language/catalogue.ts'
import { SubscribeForm } from '../../../src/notification/html/subscribe.tsx'
import { linkIn } from '../../support/mail-server.ts'
import { nestingFaults, repeatedIds } from '../../support/markup.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { notifyingService, run, SUBSCRIBE } from '../service.ts'

const { url, mail, receiver, page } = await notifyingService()
const mine = await page()
const formUrl = `${url}/status/${mine.slug}/subscribe`

/** Sends a form like a browser without scripts. */
const send = (to: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  fetch(to, { method: 'POST', body: new URLSearchParams(fields), headers: { accept: 'text/html', ...headers } })
const textOf = async (response: Promise<Response>) => (await response).text()
const get = (to: string) => fetch(to, { headers: { accept: 'text/html' }, redirect: 'manual' })
const sound = (html: string) => [...nestingFaults(html.replace(/<!DOCTYPE html>/, '')), ...repeatedIds(html)]

describe('the form of a page', () => {
  test('offers every channel and the services of the page, and is not indexed', async () => {
    const response = await get(formUrl)
    const html = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(response.headers.get('cache-control')).toContain('no-cache')
    expect(html.match(/type="radio"/g)?.length).toBe(9)
    expect(html).toMatch(/value="EMAIL" checked/)
    expect(html).toContain(`${url}/status/${mine.slug}/history.atom`)
    expect(html).toContain('theme.')
    expect(html).toContain(`<input type="checkbox" name="serviceIds" value="${mine.serviceId}"`)
    expect(html).toContain('noindex')
    expect(sound(html)).toEqual([])
  })

  test('offers a badge for other sites, and the status line if the owner allows it', async () => {
    const root = `${url}/status/${mine.slug}`
    const german = await textOf(get(`${formUrl}?way=SITE&language=de`))
    expect(german).toMatch(/value="SITE" checked/)
    expect(german).toContain(`&lt;img src=&quot;${root}/badge.svg?language=de&quot;`)
    expect(await textOf(get(formUrl))).not.toContain('iframe')
    const allow = `mutation { updatePageEmbedding(input: { pageId: "${mine.id}", origins: ["https://acme.example"] }) { __typename } }`
    expect(await run(url, mine.key, allow)).toMatchObject({ __typename: 'StatusPage' })
    const html = await textOf(get(formUrl))
    expect(html).toContain(`&lt;iframe src=&quot;${root}/embed&quot;`)
    expect(html).toContain('allows can show it.')
    expect(sound(html)).toEqual([])
  })

  test('returns 404 for an unknown page', async () => {
    expect((await get(`${url}/status/nobody/subscribe`)).status).toBe(404)
    expect((await send(`${url}/status/nobody/subscribe`, { channel: 'EMAIL', email: 'a@b.example' })).status).toBe(404)
  })

  test('shows the error and keeps the input', async () => {
    const response = await send(formUrl, {
      channel: 'SLACK',
      slack: '"><b>x',
      topics: 'INCIDENTS',
      serviceIds: mine.serviceId,
    })
    const html = await response.text()
    expect(response.status).toBe(400)
    expect(html).toMatch(/id="slack-problem"[^>]*>Enter a Slack webhook URL\.</)
    expect(html).toMatch(/name="slack"[^>]*aria-invalid="true" aria-describedby="slack-hint slack-problem"/)
    expect(html).toContain('Check the highlighted fields.')
    expect(html).toContain('value="&quot;&gt;&lt;b&gt;x"')
    expect(html).toMatch(/value="SLACK" checked/)
    expect(html).toMatch(new RegExp(`value="${mine.serviceId}" checked`))
    expect(sound(html)).toEqual([])
  })

  test('returns 404 on other hosts while BASE_URL is not set', async () => {
    const { id, key, slug } = await page()
    const host = `status-${slug}.example`
    const edit = `mutation { requestDomain(input: { pageId: "${id}", domain: "${host}" }) { __typename ... on Error { message } } }`
    expect(await run(url, key, edit)).toMatchObject({
      __typename: 'ValidationError',
      message: expect.stringContaining('BASE_URL'),
    })
    const asked = await sendRaw(url, `GET /subscribe HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(asked).toContain('404')
    expect((await get(`${url}/subscribe`)).status).toBe(404)
  })

  test('accepts only same-origin requests', async () => {
    const fields = { channel: 'EMAIL', email: 'cross@site.example', topics: 'INCIDENTS' }
    const elsewhere: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]
    for (const headers of elsewhere) {
      expect((await send(formUrl, fields, headers)).status).toBe(403)
    }
    expect((await send(formUrl, fields, { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await send(formUrl, fields, { origin: url })).status).toBe(200)
  })

  test('rejects a form that is too large', async () => {
    expect((await send(formUrl, { channel: 'EMAIL', email: 'a'.repeat(100_000) })).status).toBe(413)
  })

  test('shows that email is not set up', () => {
    const form = (isMailEnabled: boolean) =>
      String(
        <SubscribeForm
          words={wordsOf('EN')}
          name="Acme"
          action="/"
          pageUrl=""
          hasReports={false}
          isMailEnabled={isMailEnabled}
          site={null}
          channel="EMAIL"
          state={emptyForm}
          incident={null}
          services={[]}
          namesLang={undefined}
          topics={[]}
          serviceIds={[]}
        />,
      )
    expect(form(false)).toContain('Email isn’t set up')
    expect(form(false)).not.toContain('value="EMAIL"')
    expect(form(true)).not.toContain('isn’t set up')
  })
})

test('a visitor subscribes, confirms, changes the settings and unsubscribes with one click', async () => {
  const asked = await textOf(send(formUrl, { channel: 'EMAIL', email: 'ada@reader.example', topics: 'INCIDENTS' }))
  expect(asked).toContain('We sent a link to confirm')
  const [email] = await mail.arrived(1, ({ envelopeTo }) => envelopeTo === 'ada@reader.example')
  const link = linkIn(email ?? {}, `${url}/subscriptions/`)

  // Mail scanners open links, which must neither confirm nor unsubscribe.
  expect(await textOf(get(link))).toContain('Confirm subscription')
  expect((await get(`${link}/unsubscribe`)).headers.get('location')).toBe(new URL(link).pathname)
  expect((await fetch(`${link}/confirm`)).status).toBe(404)
  await mine.incident('Before it is confirmed')

  const confirmed = await textOf(send(`${link}/confirm`))
  expect(confirmed).toContain('You’re subscribed.')
  expect(sound(confirmed)).toEqual([])
  const incident = await mine.incident('Slow answers')
  const reported = (number: number) =>
    mail.arrived(number, ({ subject }) => subject?.endsWith(': Slow answers') ?? false)
  const [first] = await reported(1)
  expect(first?.text).toContain(`${url}/status/${mine.slug}/incidents/${incident}`)
  await mine.update(incident, 'It is over.', 'RESOLVED')
  const [, second] = await reported(2)
  expect([first?.subject, second?.subject]).toEqual([
    '[Acme] Investigating: Slow answers',
    '[Acme] Resolved: Slow answers',
  ])
  expect(second?.references).toBe(first?.messageId)
  expect(mail.mails.map(({ subject }) => subject)).not.toContain('[Acme] Investigating: Before it is confirmed')

  const saved = await textOf(send(link, { topics: 'MAINTENANCES', serviceIds: mine.serviceId }))
  expect(saved).toContain('Saved.')
  expect(saved).toMatch(/value="MAINTENANCES" checked/)
  expect(saved).not.toMatch(/value="INCIDENTS" checked/)
  expect(await textOf(send(link, {}))).toContain('Choose at least one.')

  const unsubscribe = second?.headers.find(({ key }) => key === 'list-unsubscribe')?.value.slice(1, -1) ?? ''
  const ended = await send(unsubscribe, { 'List-Unsubscribe': 'One-Click' }, { 'sec-fetch-site': 'cross-site' })
  expect(ended.status).toBe(200)
  expect(await textOf(get(link))).toContain('You’re unsubscribed.')
})

test('a visitor subscribes in a language, gets messages in it, and chooses another', async () => {
  const to = 'anna@reader.example'
  const form = await textOf(get(`${formUrl}?language=de`))
  expect(form).toContain('<html lang="de" dir="ltr">')
  expect(form).toContain(`action="${new URL(formUrl).pathname}?language=de"`)
  expect(await (await fetch(formUrl, { headers: { 'accept-language': 'pl' } })).text()).toContain('<html lang="pl"')
  expect(await textOf(send(`${formUrl}?language=de`, { channel: 'EMAIL', email: 'x', topics: 'INCIDENTS' }))).toContain(
    'Geben Sie eine E-Mail-Adresse ein',
  )
  await textOf(send(`${formUrl}?language=de`, { channel: 'EMAIL', email: to, topics: 'INCIDENTS' }))
  const ours = ({ envelopeTo }: { readonly envelopeTo: string }) => envelopeTo === to
  const [email] = await mail.arrived(1, ours)
  expect(email?.subject).toBe('[Acme] Bestätigen Sie Ihr Abonnement')
  expect(email?.html).toContain('<html lang="de" dir="ltr">')
  const link = linkIn(email ?? {}, `${url}/subscriptions/`)
  expect(await textOf(send(`${link}/confirm`))).toContain('Sie sind angemeldet.')
  const incident = await mine.incident('Suche langsam')
  await mail.arrived(2, ours)
  expect(await textOf(send(link, { topics: 'INCIDENTS', language: 'FR' }))).toContain('Enregistré.')
  await mine.update(incident, 'Fertig.', 'RESOLVED')
  await mail.arrived(3, ours)
  expect(mail.mails.filter(ours).map(({ subject }) => subject)).toEqual([
    '[Acme] Bestätigen Sie Ihr Abonnement',
    '[Acme] Wird untersucht: Suche langsam',
    '[Acme] Résolu : Suche langsam',
  ])
  expect((await send(link, { topics: 'INCIDENTS', language: 'XX' })).status).toBe(400)
  await send(`${link}/unsubscribe`)
})

test('subscribers from before a page became private only learn that there is an update, until they get access again', async () => {
  const theirs = await page()
  const subscribe = (address: Record<string, unknown>) =>
    run(url, theirs.key, SUBSCRIBE, { input: { slug: theirs.slug, address } })
  for (const email of ['ann@closed.example', 'bob@trusted.example']) await subscribe({ email })
  await subscribe({ webhook: `${receiver.url}/closed` })
  const { pageId } = await run(url, theirs.key, '{ organization { pages { id } } }').then((found) => ({
    pageId: (found['pages'] as unknown as { id: string }[])[0]?.id,
  }))
  const close = (access: Record<string, unknown>) =>
    run(
      url,
      theirs.key,
      `mutation ($input: UpdatePageAccessInput!) { updatePageAccess(input: $input) { ... on PageAccess { kind } ... on Error { message } } }`,
      { input: { pageId, access } },
    )
  expect(await close({ kind: 'MAIL_DOMAIN', mailDomains: ['trusted.example'] })).toEqual({ kind: 'MAIL_DOMAIN' })
  const incident = await theirs.incident('Secret outage')
  const to = (address: string) => mail.mails.filter(({ envelopeTo }) => envelopeTo === address)
  await mail.arrived(1, ({ envelopeTo }) => envelopeTo === 'ann@closed.example')
  await mail.arrived(1, ({ envelopeTo }) => envelopeTo === 'bob@trusted.example')
  const [reported] = to('ann@closed.example')
  expect(reported?.subject).toBe('[Acme] There is an update')
  expect(`${reported?.text}${reported?.html}`).not.toMatch(/Secret|look/)
  expect(reported?.text).toContain('This page is now private.')
  expect(to('bob@trusted.example')[0]?.subject).toBe('[Acme] Investigating: Secret outage')
  const [sent] = await receiver.arrived(1, ({ path }) => path === '/closed')
  expect(JSON.parse(sent?.body ?? '')).toMatchObject({ type: 'page.updated', data: { page: { slug: theirs.slug } } })
  expect(sent?.body).not.toContain('Secret')

  const link = linkIn(reported ?? {}, `${url}/subscriptions/`)
  const manage = await textOf(get(link))
  expect(manage).toContain('This page is now private, so messages only say that there is an update.')
  expect(manage).not.toMatch(/Mail<\/span>|Secret/)
  expect(await textOf(send(link, { topics: 'INCIDENTS', language: 'EN' }))).toContain('Saved.')

  await close({ kind: 'ADDRESSES', ranges: ['127.0.0.0/8', '::1/128'] })
  await theirs.update(incident, 'Secret cause.', 'MONITORING')
  await mail.arrived(2, ({ envelopeTo }) => envelopeTo === 'bob@trusted.example')
  expect(to('bob@trusted.example')[1]?.subject).toBe('[Acme] There is an update')
  // From an allowed network, on the page itself.
  const again = { channel: 'EMAIL', email: 'bob@trusted.example', topics: 'INCIDENTS' }
  expect((await send(`${url}/status/${theirs.slug}/subscribe`, again)).status).toBe(200)
  await theirs.update(incident, 'All is well.', 'RESOLVED')
  await mail.arrived(4, ({ envelopeTo }) => envelopeTo === 'bob@trusted.example')
  expect(to('bob@trusted.example').at(-1)?.subject).toBe('[Acme] Resolved: Secret outage')
  expect(await textOf(get(linkIn(to('bob@trusted.example').at(-1) ?? {}, `${url}/subscriptions/`)))).not.toContain(
    'This page is now private',
  )
})

test('an update in several languages reaches each subscriber in theirs, and webhooks in all', async () => {
  const theirs = await page()
  const subscribe = (address: Record<string, unknown>, language: string) =>
    run(url, theirs.key, SUBSCRIBE, { input: { slug: theirs.slug, address, language } })
  for (const language of ['DE', 'FR', 'EN'])
    await subscribe({ email: `${language.toLowerCase()}@many.example` }, language)
  await subscribe({ webhook: `${receiver.url}/many` }, 'DE')
  const created = await run(
    url,
    theirs.key,
    `mutation ($input: CreateIncidentInput!) { createIncident(input: $input) { ... on Incident {
      id title translations { language title } updates { nodes { message translations { language message } } } } } }`,
    {
      input: {
        ...{ title: 'Search is slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We *look* into it.' },
        translations: [
          { language: 'FR', message: 'Nous *cherchons*.' },
          { language: 'DE', title: 'Suche langsam', message: 'Wir *suchen*.' },
        ],
      },
    },
  )
  expect(created).toMatchObject({
    title: 'Search is slow',
    translations: [{ language: 'DE', title: 'Suche langsam' }],
    updates: {
      nodes: [
        {
          message: 'We *look* into it.',
          translations: [
            { language: 'DE', message: 'Wir *suchen*.' },
            { language: 'FR', message: 'Nous *cherchons*.' },
          ],
        },
      ],
    },
  })
  const ours = ({ envelopeTo }: { readonly envelopeTo: string }) => envelopeTo.endsWith('@many.example')
  await mail.arrived(3, ours)
  const received = new Map(mail.mails.filter(ours).map((each) => [each.envelopeTo.slice(0, 2), each]))
  expect(received.get('de')).toMatchObject({
    subject: '[Acme] Wird untersucht: Suche langsam',
    html: expect.stringContaining('Wir <em>suchen</em>.'),
    text: expect.stringContaining('Wir suchen.'),
  })
  expect(received.get('fr')?.subject).toMatch(/ : Search is slow$/)
  expect(received.get('fr')?.html).toContain('Nous <em>cherchons</em>.')
  expect(received.get('en')?.html).toContain('We <em>look</em> into it.')
  const [sent] = await receiver.arrived(1, ({ path, body }) => path === '/many' && body.includes('incident.created'))
  expect(JSON.parse(sent?.body ?? '').data.incident).toMatchObject({
    ...{ title: 'Search is slow', message: 'We *look* into it.' },
    translations: [
      { language: 'de', title: 'Suche langsam', message: 'Wir *suchen*.' },
      { language: 'fr', title: null, message: 'Nous *cherchons*.' },
    ],
  })
})

test('a visitor follows one incident until it is resolved, and nothing else', async () => {
  const to = 'follower@reader.example'
  const incident = await mine.incident('Search is slow')
  const form = await textOf(get(`${formUrl}?incident=${incident}`))
  expect(form).toContain('Get notified about “Search is slow” until it’s resolved.')
  expect(form).not.toContain('name="topics"')
  expect(sound(form)).toEqual([])
  await textOf(send(formUrl, { channel: 'EMAIL', email: to, incidentId: incident }))
  const ours = ({ envelopeTo }: { readonly envelopeTo: string }) => envelopeTo === to
  const [email] = await mail.arrived(1, ours)
  const link = linkIn(email ?? {}, `${url}/subscriptions/`)
  const confirmed = await textOf(send(`${link}/confirm`))
  expect(confirmed).toContain('<li dir="auto">Search is slow</li>')
  expect(sound(confirmed)).toEqual([])

  await mine.incident('Another one')
  await mine.update(incident, 'Fixed.', 'RESOLVED')
  await mail.arrived(2, ours)
  await mine.update(incident, 'A last word.', 'RESOLVED')
  await mine.incident('A third one')
  await send(formUrl, { channel: 'EMAIL', email: 'witness@reader.example', topics: 'INCIDENTS' })
  await mail.arrived(1, ({ envelopeTo }) => envelopeTo === 'witness@reader.example')
  expect(mail.mails.filter(ours).map(({ subject }) => subject)).toEqual([
    '[Acme] Confirm your subscription',
    '[Acme] Resolved: Search is slow',
  ])
  expect(await textOf(get(link))).not.toContain('Search is slow')

  const late = await send(formUrl, { channel: 'EMAIL', email: to, incidentId: incident })
  expect(late.status).toBe(400)
  expect(await late.text()).toContain('This incident is resolved.')
  const foreign = await (await page()).incident('Of another page')
  for (const incidentId of [foreign, 'inc_0000000000000000000000', '"><b>']) {
    const refused = await send(formUrl, { channel: 'EMAIL', email: to, incidentId })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('That didn’t work.')
  }
  expect(await textOf(get(`${formUrl}?incident=${foreign}`))).not.toContain('Of another page')
})

test('an unknown subscription is reported in the reader’s language', async () => {
  const headers = { accept: 'text/html', 'accept-language': 'pl' }
  const answer = await fetch(`${url}/subscriptions/none`, { headers })
  const html = await answer.text()
  expect(answer.status).toBe(404)
  expect(html).toContain('<html lang="pl"')
  expect(html).toContain('Ten link jest nieprawidłowy lub subskrypcja została usunięta.')
  expect(html).not.toContain('Acme')
})

test('the form of a service has the service checked', async () => {
  const html = await textOf(get(`${formUrl}?service=${mine.serviceId}`))
  expect(html).toMatch(new RegExp(`value="${mine.serviceId}" checked`))
})

test('the page of a webhook shows its signing secret and rotates it', async () => {
  const { subscriber } = await run(url, mine.key, SUBSCRIBE, {
    input: { slug: mine.slug, address: { webhook: `${receiver.url}/page` } },
  })
  expect(subscriber).toMatchObject({ state: 'ACTIVE' })
  await mine.incident('For the webhook')
  const [came] = await receiver.arrived(1)
  const link = JSON.parse(came?.body ?? '{}').data.manage_url
  const secretIn = (html: string) => /whsec_[A-Za-z0-9+/=]+/.exec(html)?.[0]
  const before = secretIn(await textOf(get(link)))
  const after = secretIn(await textOf(send(`${link}/secret`)))
  expect(before).toBeDefined()
  expect(after).not.toBe(before)
})

test('a link without a subscription returns 404', async () => {
  for (const token of ['x', '0'.repeat(32), 'a'.repeat(1000)]) {
    expect((await get(`${url}/subscriptions/${token}`)).status).toBe(404)
    for (const step of ['', '/confirm', '/unsubscribe', '/secret']) {
      expect((await send(`${url}/subscriptions/${token}${step}`, { topics: 'INCIDENTS' })).status).toBe(404)
    }
  }
})
