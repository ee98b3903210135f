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
    const created = await editor.post('incidents/new', {
      title: 'Slow',
      status: 'INVESTIGATING',
      impact: 'MINOR',
      message: 'Slow.',
    })
    const path = created.location?.replace('/console/notices/', '') ?? ''
    const { html } = await follow(editor, await editor.post(`${path}/lead`, { userId: editor.userId }))
    expect(html).toMatch(new RegExp(`${NOTICE.source}<(details|form)`))
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
