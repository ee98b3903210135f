import { describe, expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { database, organization } = await testConsole()
const acme = await organization('repeats')
const other = await organization('repeats-elsewhere')
const editor = await acme.signIn('EDITOR')
const viewer = await acme.signIn('VIEWER')
const { prisma } = database
await prisma.organization.update({ where: { id: acme.organization.id }, data: { timeZone: 'Europe/Berlin' } })

/** The first Sunday at two in the morning that is at least a day ahead. */
const sunday = new Date(Date.now() + 24 * 3_600_000)
sunday.setUTCDate(sunday.getUTCDate() + ((7 - sunday.getUTCDay()) % 7))
const fields = {
  title: 'Weekly restart',
  message: 'We *restart*.',
  startsAt: `${sunday.toISOString().slice(0, 10)}T02:00`,
  durationMinutes: '60',
  repeat: 'WEEKLY',
  interval: '1',
  days: 'SU',
  until: '',
  rule: '',
}
const latest = () =>
  prisma.maintenanceSeries.findFirstOrThrow({ orderBy: { createdAt: 'desc' }, include: { maintenances: true } })

describe('repeating maintenance', () => {
  test('is previewed, created by choices, and listed in words', async () => {
    const preview = await editor.post('maintenance/series/new', { ...fields, preview: 'true' })
    expect(preview.status).toBe(200)
    expect(preview.html).toContain('We <em>restart</em>.')
    const dates = preview.html.split('id="dates"')[1]?.split('</section>')[0] ?? ''
    expect(dates.match(/<time /g)).toHaveLength(5)
    expect(await prisma.maintenanceSeries.count()).toBe(0)
    expect((await editor.post('maintenance/series/new', fields)).status).toBe(303)
    expect(await latest()).toMatchObject({ rule: 'FREQ=WEEKLY;BYDAY=SU', timeZone: 'Europe/Berlin' })
    const { html } = await viewer.get('maintenance/series')
    expect(html).toContain('Every Sunday at 02:00')
    expect(html).not.toContain('/end"')
    const [date] = (await latest()).maintenances
    expect((await editor.get(`maintenance/${date?.id}`)).html).toContain('Skip this date')
  })

  test('has texts in several languages, which the form shows again', async () => {
    const german = {
      'translations.0.language': 'DE',
      'translations.0.title': 'Neustart',
      'translations.0.message': 'Wir *starten neu*.',
    }
    const preview = await editor.post('maintenance/series/new', { ...fields, ...german, preview: 'true' })
    expect(preview.html).toContain('Wir <em>starten neu</em>.')
    await editor.post('maintenance/series/new', { ...fields, ...german })
    const { id, translations, maintenances } = await latest()
    expect(translations).toEqual({ DE: { title: 'Neustart', message: 'Wir *starten neu*.' } })
    expect(maintenances.map(({ titles }) => titles)).toContainEqual({ DE: 'Neustart' })
    const form = await editor.get(`maintenance/series/${id}/edit`)
    expect(form.html).toMatch(/name="translations\.0\.title"[^>]*value="Neustart"/)
    expect(form.html).toContain('Wir *starten neu*.</textarea>')
    const edit = { ...fields, ...german, repeat: 'CUSTOM', rule: 'FREQ=WEEKLY;BYDAY=SU', version: '1' }
    await editor.post(`maintenance/series/${id}/edit`, { ...edit, 'translations.0.message': '' })
    expect((await latest()).translations).toEqual({ DE: { title: 'Neustart' } })
    await editor.post(`maintenance/series/${id}/delete`, {})
  })

  test('is refused with its input', async () => {
    const refused = await editor.post('maintenance/series/new', {
      ...fields,
      repeat: 'CUSTOM',
      rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31',
    })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('id="rule-problem">Has no future date.')
    expect(refused.html).toContain('value="FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31"')
    expect((await editor.post('maintenance/series/new', { ...fields, durationMinutes: '' })).status).toBe(422)
    expect((await viewer.post('maintenance/series/new', fields)).status).toBe(422)
  })

  test('is edited, ended and deleted by members of its organization only', async () => {
    const { id } = await latest()
    const form = await editor.get(`maintenance/series/${id}/edit`)
    expect(form.html).toContain('value="FREQ=WEEKLY;BYDAY=SU"')
    const edit = { ...fields, title: 'Restart', repeat: 'CUSTOM', rule: 'FREQ=WEEKLY;BYDAY=SU', version: '1' }
    expect((await editor.post(`maintenance/series/${id}/edit`, edit)).status).toBe(303)
    expect((await latest()).maintenances.map(({ title }) => title)).toContain('Restart')
    expect((await editor.post(`maintenance/series/${id}/edit`, { ...edit, title: 'Late' })).status).toBe(422)
    const stranger = await other.signIn('OWNER')
    for (const name of ['edit', 'end', 'delete']) {
      expect((await stranger.get(`maintenance/series/${id}/${name}`)).status).toBe(404)
      expect((await stranger.post(`maintenance/series/${id}/${name}`, edit)).status).toBe(404)
    }
    expect((await editor.post(`maintenance/series/${id}/end`, {})).status).toBe(303)
    expect((await latest()).maintenances).toEqual([])
    expect((await viewer.get('maintenance/series')).html).toContain('Ended')
    expect((await editor.post(`maintenance/series/${id}/delete`, {})).status).toBe(303)
    expect(await prisma.maintenanceSeries.count()).toBe(0)
  })
})
