import { afterAll, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { useChromium } from '../support/chromium.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists({ '7.113.0.203.zen.spamhaus.org': ['127.0.0.4'] }))
const { baseUrl } = await testApp({ dns })
afterAll(() => dns.close())

const openTab = useChromium()

const subscription = `subscription {
  checkProgress(target: "203.0.113.7") {
    ... on ListAnswered { result { name listed } }
    ... on IpReport { verdict }
  }
}`

test('GraphiQL loads only from this server and runs a subscription', async () => {
  await using tab = await openTab(() => true)
  const { page } = tab
  const complaints: string[] = []
  const sockets: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    const url = request.url().replace(/^blob:/, '')
    if (!url.startsWith(baseUrl) && !url.startsWith('data:')) complaints.push(`asked ${url}`)
  })
  page.on('websocket', (socket) => sockets.push(socket.url()))

  await page.goto(`${baseUrl}/graphql?query=${encodeURIComponent(subscription)}`)
  await page.getByRole('button', { name: /execute/i }).click()
  const answer = page.locator('.graphiql-response, [aria-label="Operation Response"], .result-window').first()
  await expect
    .poll(async () => (await answer.textContent())?.replaceAll(/\s/g, ''))
    .toContain('203.0.113.7islistedon1of6blacklists:SpamhausZEN.')
  expect(sockets).toEqual([`${baseUrl.replace('http', 'ws')}/graphql`])
  expect(complaints).toEqual([])
  await page.close()
})
