// @slow
import { describe, expect, test } from 'vitest'
import { startApp } from '../../src/app/start.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { languages, wordsOf } from '../../src/language/catalogue.ts'
import { testConfig } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization } from '../support/filled-organization.ts'
import { startService } from '../support/process.ts'
import { silent } from '../support/scratch.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'

/**
 * The texts of the built service, which people run, and of the sources, which all other tests run, on the same data. Each
 * page without its numbers and times, by address.
 */
const dns = await startDnsServer(scriptedLists())
const data = await testData()
atTheEnd(data.remove)
const settings = { ...data.settings, DATA_DIR: data.dataDir }

const service = startService(dns, settings)
const url = await service.ready()
const startsAt = new Date(Date.now() + DAY)
const { slug, ids } = await filledOrganization(url, { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) })
const served = languages.flatMap((language) => {
  const base = `/status/${slug}/${wordsOf(language).tag.toLowerCase()}`
  const pages = [
    '',
    '/history',
    '/none',
    `/incidents/${ids.Incident}`,
    `/maintenance/${ids.Maintenance}`,
    `/services/${ids.Service}`,
  ]
  const ranges = ['?range=24h', '?range=30d'].map((range) => `/services/${ids.Service}${range}`)
  const subscribe = `/status/${slug}/subscribe?language=${wordsOf(language).tag.toLowerCase()}`
  return [...[...pages, ...ranges].map((path) => base + path), subscribe].map((path) => ({ language, path }))
})
const documents = ['history.atom', 'history.rss', 'maintenance.ics', 'badge.svg'].flatMap((name) =>
  languages.map((language) => `/status/${slug}/${name}?language=${wordsOf(language).tag.toLowerCase()}`),
)
const others = ['/', '/check', '/docs/getting-started', '/none']
const addresses = [...served.map(({ path }) => path), ...documents, ...others]
/** When each page was read from the built service: how long an incident has lasted is told in minutes. */
const readAt = new Map<string, Date>()
const built = await readAll(url, (path) => void readAt.set(path, new Date()))
service.signal('SIGTERM')
await service.ended

let now = new Date()
const app = await startApp({
  log: silent,
  config: testConfig(dns, data.dataDir, data.settings),
  now: () => now,
})
const fromSources = await readAll(app.baseUrl, (path) => {
  now = readAt.get(path) ?? now
})
await app.close()

describe('the built service', () => {
  test.each(addresses)('says at %s what the sources say', (path) => {
    expect(built.get(path)).toBe(fromSources.get(path))
    expect(built.get(path)).toMatch(/\p{L}{3}|\p{Script=Han}/u)
  })

  test.each(languages)('says in %s what the catalogue says', (language) => {
    const words = wordsOf(language)
    const own = served.filter((page) => page.language === language && !page.path.endsWith('/none'))
    const byline = words.page.by('Allclear' as never).join('')
    for (const { path } of own) {
      expect(built.get(path), path).toMatch(/^200 /)
      expect(built.get(path)?.replace(/\s/g, ''), path).toContain(byline.replace(/\s/g, ''))
    }
    const overview = built.get(own[0]?.path ?? '')
    expect(overview).toContain(words.page.getUpdates)
    expect(overview).toContain(words.page.language)
  })
})

/** @param before called with each path before it is read. */
async function readAll(from: string, before: (path: string) => void): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const path of addresses) {
    before(path)
    const response = await fetch(from + path, { redirect: 'manual' })
    texts.set(path, `${response.status} ${textOf(await response.text()).replaceAll(from, '')}`)
  }
  return texts
}

/** The text of a document and of the attributes that people read or hear, without numbers and times. */
function textOf(document: string): string {
  const shown = document.replace(/<(script|style|time)\b[\s\S]*?<\/\1>/g, '')
  const attributes = Array.from(
    shown.matchAll(/\b(?:title|aria-label|placeholder|alt|content)="([^"]*)"/g),
    ([, text]) => text,
  )
  return withoutNumbers([shown.replace(/<[^>]*>/g, ' '), ...attributes].join('\n'))
}

/** Figures of an open incident change with each second, and may lose their fraction. */
function withoutNumbers(text: string): string {
  return text
    .replace(/\d+(?:[.,]\d+)?/g, '0')
    .replace(/\s+/g, ' ')
    .trim()
}
