import { NotFound } from '../../../core/errors.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { FormProblem } from '../../../http/page/form.tsx'
import type { Member } from '../../../people/membership.ts'
import { membersOf } from '../../../people/membership.ts'
import { createResetLink } from '../../../people/sign-in/password-reset.ts'
import type { Screen, Screens } from '../frame/screen.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'

/** Adds the screen on which the operator creates a link for a person who lost the password and has no email. */
export function resetLinkScreens({ form }: Screens): void {
  form('people/:id/reset', showReset, async (screen) => {
    const { user } = await requireMember(screen)
    return showLink(screen, `${screen.ctx.site.baseUrl}${await createResetLink(screen.self, user.id)}`)
  })
}

/** @throws NotFound unless the person is a member and the caller is the operator. */
async function requireMember({ c, ctx, user: { isOperator } }: Screen): Promise<Member> {
  const id = c.req.param('id')
  const member = isOperator ? (await membersOf(ctx)).find(({ user }) => user.id === id) : undefined
  if (member === undefined) throw new NotFound('Member not found.')
  return member
}

async function showReset(screen: Screen, state: FormState): Promise<Response> {
  const { user } = await requireMember(screen)
  const content = (
    <form method="post" class="stack">
      <p>
        You get a link with which {user.name} can set a new password. Give it to no one else: whoever opens it can sign
        in as {user.email}.{' '}
        {user.emailProvenAt === null
          ? 'It removes passkeys, the authenticator app and connected accounts, because the address is not proven.'
          : 'A second factor is still required. The address counts as not proven until the person signs in with an emailed link.'}
      </p>
      <FormProblem state={state} />
      <p class="actions">
        <button type="submit">Create link</button> <a href={screen.path('people')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: `New password for ${user.name}`, section: 'people', content }, state)
}

function showLink(screen: Screen, link: string): Response {
  const content = (
    <>
      <p>Send this link. It works once, for a day, and is shown only once.</p>
      <ShownOnce text={link} about="the link" />
      <p class="actions">
        <a class="button" href={screen.path('people')}>
          Done
        </a>
      </p>
    </>
  )
  return screen.show({ title: 'Link for a new password', section: 'people', content })
}
