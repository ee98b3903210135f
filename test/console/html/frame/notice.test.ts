import { describe, expect, test } from 'vitest'
import type { Browser, ConsolePage } from '../../../support/console.ts'
import { testConsole } from '../../../support/console.ts'

const { organization } = await testConsole()
const { signIn } = await organization('notices')

const NOTICE = /<p class="notice" id="notice" role="status" tabindex="-1" autofocus[^>]*>([^<]*)<\/p>/

/** Opens the page that a form redirects to, with the cookie that the form set. */
async function follow(
  { get }: Browser,
  { location, headers }: ConsolePage,
  path = location ?? '',
): Promise<ConsolePage> {
  const [cookie = ''] = headers.getSetCookie().map((each) => each.split(';')[0])
  return get(path, { cookie })
}

/** Returns the path of a new incident. */
async function openIncident(editor: Browser): Promise<string> {
  const fields = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'Slow.' }
  const { location } = await editor.post('incidents/new', fields)
  return location?.replace('/console/notices/', '') ?? ''
}

describe('the page after a form', () => {
  test('says beside the form that its input was saved, once', async () => {
    const person = await signIn('OWNER')
    const sent = await person.post('account', { name: 'Ada' })
    expect([sent.status, sent.location]).toEqual([303, '/console/notices/account'])
    const page = await follow(person, sent)
    expect(NOTICE.exec(page.html)?.[1]).toBe('Saved.')
    expect(page.html).toMatch(new RegExp(`${NOTICE.source}<form [^>]*id="about"`))
    expect(page.headers.getSetCookie().join()).toMatch(/allclear_notice=;.*Max-Age=0/)
    expect((await person.get('account')).html).not.toMatch(NOTICE)
  })

  test('says first what happened if it has the form no more', async () => {
    const editor = await signIn('EDITOR')
    const sent = await editor.post('services/groups/new', { name: 'Core' })
    const { html } = await follow(editor, sent)
    expect(NOTICE.exec(html)?.[1]).toBe('Created.')
    expect(html).toMatch(new RegExp(`<div class="screen-head">.*?</div>${NOTICE.source}`))
  })

  test('says so outside of a closed section', async () => {
    const editor = await signIn('EDITOR')
    const path = await openIncident(editor)
    const { html } = await follow(editor, await editor.post(`${path}/lead`, { userId: editor.userId }))
    expect(html).toMatch(new RegExp(`${NOTICE.source}<(details|form)`))
  })

  describe('of several forms with one address, says so at the one that was sent', () => {
    /** Returns the first fields with a fixed value after the notice. */
    const fieldsAfter = ({ html }: ConsolePage) =>
      [...html.slice(html.search(NOTICE)).matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => `${name}=${value}`,
      )

    test('known by its name', async () => {
      const [editor, other] = [await signIn('EDITOR'), await signIn('EDITOR')]
      const path = await openIncident(editor)
      const update = { form: 'update', version: '1', status: 'MONITORING', message: 'Better.' }
      expect(fieldsAfter(await follow(editor, await editor.post(`${path}/updates`, update)))[0]).toBe('form=update')
      // A button for oneself comes before the form with the names of all.
      const lead = { form: 'lead', userId: other.userId }
      expect(fieldsAfter(await follow(editor, await editor.post(`${path}/lead`, lead)))[0]).toBe('form=lead')
      expect(fieldsAfter(await follow(editor, await editor.post(`${path}/lead`, { userId: other.userId })))[0]).toBe(
        `userId=${editor.userId}`,
      )
    })

    test('known by what it is about', async () => {
      const editor = await signIn('EDITOR')
      for (const group of ['First', 'Last']) {
        await editor.post('services/groups/new', { name: group })
        const form = await editor.get('services/new')
        const groupId = new RegExp(`value="(grp_[a-z0-9]+)"[^>]*>${group}<`).exec(form.html)?.[1] ?? ''
        for (const name of ['A', 'B']) await editor.post('services/new', { name, description: '', groupId })
      }
      const { html } = await editor.get('services')
      const forms = [...html.matchAll(/<form [^>]*services\/order".*?<\/form>/gs)].map(([form]) =>
        [...form.matchAll(/name="ids" value="([^"]*)"/g)].map(([, id = '']) => id),
      )
      expect(forms.map(({ length }) => length)).toEqual([2, 2])
      for (const [first = '', second = ''] of forms) {
        const moved = await editor.post('services/order', { page: '1', ids: [first, second], up: second })
        expect(fieldsAfter(await follow(editor, moved)).slice(0, 2)).toEqual(['page=1', `ids=${second}`])
      }
    })

    test('without repeating what was typed', async () => {
      const sent = await (await signIn('OWNER')).post('account', { name: 'Unmistakable' })
      expect(decodeURIComponent(sent.headers.getSetCookie().join())).not.toContain('Unmistakable')
    })
  })

  test('shows nothing at another address, to a script, or by a link', async () => {
    const person = await signIn('OWNER')
    const sent = await person.post('account', { name: 'Ada' })
    expect((await follow(person, sent, 'now')).html).not.toMatch(NOTICE)
    const cookie = sent.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect((await person.get('account', { cookie, 'sec-fetch-dest': 'empty' })).html).not.toMatch(NOTICE)
    expect((await person.get('account?notice=saved')).html).not.toMatch(NOTICE)
    expect((await person.get('account', { cookie: 'allclear_notice=%7B%22to%22%3A1%7D' })).status).toBe(200)
  })

  test('shows nothing after a refused form, a preview and a question', async () => {
    const editor = await signIn('EDITOR')
    for (const sent of [
      await editor.post('services/groups/new', { name: '' }),
      await editor.post('incidents/new', { preview: '1', name: 'Slow', message: 'Slow.' }),
      await editor.post('monitors/bulk', { do: 'delete' }),
    ]) {
      expect(sent.headers.getSetCookie().join()).not.toContain('allclear_notice')
    }
  })

  test('confirms to the operator', async () => {
    const { signIn: signInOther, organization: other } = await organization('tiers')
    const operator = await signInOther(null, { isOperator: true })
    const sent = await operator.post(`/console/operator/organizations/${other.id}/tier`, { tier: 'PRO' })
    expect(sent.status).toBe(303)
    expect((await follow(operator, sent)).html).toMatch(NOTICE)
  })
})
