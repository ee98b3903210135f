import { expect, test } from 'vitest'
import { notifyingService } from '../notification/service.ts'
import { useChromium } from '../support/chromium.ts'
import { linkIn } from '../support/mail-server.ts'

const openTab = useChromium()
const { url, mail, page: newPage } = await notifyingService()

test.each([true, false])(
  'a reader subscribes, confirms and unsubscribes in a browser (scripts: %s)',
  async (javaScriptEnabled) => {
    const { slug, incident } = await newPage()
    const to = `reader-${javaScriptEnabled}@reader.example`
    await using tab = await openTab((asked) => asked.startsWith(url) || asked === 'about:blank', { javaScriptEnabled })
    const { page, complaints } = tab
    await page.goto(`${url}/status/${slug}`)
    await page.getByRole('link', { name: 'Get updates' }).click()
    await page.getByLabel('Email address').fill(to)
    await page.getByText('Only some services').click()
    await page.getByLabel('Mail', { exact: true }).check()
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('We sent a link to confirm').waitFor()

    const [letter] = await mail.arrived(1, ({ envelopeTo }) => envelopeTo === to)
    await page.goto(linkIn(letter ?? {}, `${url}/subscriptions/`))
    await page.getByRole('button', { name: 'Confirm subscription' }).click()
    await page.getByText('You’re subscribed.').waitFor()
    expect(await page.getByLabel('Mail', { exact: true }).isChecked()).toBe(true)

    await incident('Slow answers')
    const [, reported] = await mail.arrived(2, ({ envelopeTo }) => envelopeTo === to)
    // The email in a reader that shows HTML: its links lead to the incident and to the subscription.
    await page.goto('about:blank')
    await page.setContent(reported?.html ?? '')
    await page.getByRole('link', { name: 'View the incident' }).click()
    await page.getByRole('heading', { name: 'Slow answers' }).waitFor()
    await page.goto(linkIn(reported ?? {}, `${url}/subscriptions/`))
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByText('You’re unsubscribed.').waitFor()
    expect(complaints).toEqual([])
  },
)
