import { NotFound } from '../../../core/errors.ts'
import type { Invitation } from '../../../generated/prisma/client.ts'
import { Role } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import type { NewInvitation } from '../../../people/invitation.ts'
import { INVITATION_PATH, invitationsOf, invite, revokeInvitation } from '../../../people/invitation.ts'
import type { KeptCredential, Member } from '../../../people/membership.ts'
import { keptCredentials, membersOf, removeMember, setRole } from '../../../people/membership.ts'
import { roleDescriptions, roleNames, unprovenNote } from '../../../people/role.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { CurrentValue } from '../frame/edit-fields.tsx'
import { NumberedPages, pageNumber, ROWS_PER_PAGE } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'

const roleChoices = Object.values(Role).map((value) => ({ value, text: roleNames[value] }))

/** Adds the screens of members and invitations. */
export function peopleScreens({ get, form, action }: Screens): void {
  form('people', showPeople, async (screen, { fields }) => {
    return showPeople(screen, emptyForm, await invite(screen.ctx, Object.fromEntries(fields)))
  })
  action(
    'people/:id/role',
    async ({ c, ctx }, { fields }) => {
      const previousRole = fields.get('previousRole')
      await setRole(ctx, { userId: c.req.param('id'), role: fields.get('role'), previousRole })
      return `people?page=${pageNumber(c.req.query('page'))}`
    },
    showPeople,
  )
  get('people/:id/remove', (screen) => showRemoval(screen, emptyForm))
  action(
    'people/:id/remove',
    async ({ c, ctx, user }) => {
      const { user: removed } = await removeMember(ctx, c.req.param('id') ?? '')
      return removed.id === user.id ? c.redirect('/console', 303) : 'people'
    },
    showRemoval,
  )
  action(
    'people/invitations/:id/revoke',
    async ({ c, ctx }) => {
      await revokeInvitation(ctx, c.req.param('id') ?? '')
      return 'people'
    },
    showPeople,
  )
}

/** @param invited a new invitation, whose link is shown once. */
async function showPeople(screen: Screen, state: FormState, invited: NewInvitation | null = null): Promise<Response> {
  const isOwner = screen.role === 'OWNER'
  const [members, invitations] = await Promise.all([
    membersOf(screen.ctx),
    isOwner ? invitationsOf(screen.ctx) : Promise.resolve([]),
  ])
  const number = pageNumber(screen.c.req.query('page'))
  const editedId = screen.c.req.param('id')
  const stateOf = (id: string | undefined) => (id === editedId ? state : emptyForm)
  const content = (
    <>
      {invited === null ? null : <NewLink {...{ screen, invited }} />}
      {editedId === undefined && isOwner ? null : <FormProblem state={state} />}
      <section>
        <ul class="rows">
          {members.slice((number - 1) * ROWS_PER_PAGE, number * ROWS_PER_PAGE).map((member) => (
            <MemberRow {...{ screen, member, isOwner }} state={stateOf(member.user.id)} />
          ))}
        </ul>
        <NumberedPages number={number} pages={Math.ceil(members.length / ROWS_PER_PAGE)} />
      </section>
      {invitations.length === 0 ? null : <Invitations {...{ screen, invitations }} />}
      {isOwner ? <InviteForm state={stateOf(undefined)} /> : null}
    </>
  )
  return screen.show({ title: 'People', section: 'people', content }, state)
}

function NewLink({ screen, invited }: { readonly screen: Screen; readonly invited: NewInvitation }) {
  const { invitation, token, isMailed } = invited
  return (
    <section>
      <h2>{isMailed ? `Invitation sent to ${invitation.email}` : 'Send this link'}</h2>
      <p>
        {isMailed
          ? 'If the email does not arrive, send this link yourself. It works once, for seven days, and is shown only once.'
          : 'It works once, for seven days, and is shown only once.'}{' '}
        Whoever opens it first has the account, so its address counts as not proven.
      </p>
      <ShownOnce text={`${screen.ctx.site.baseUrl}${INVITATION_PATH}/${token}`} about="the invitation link" />
    </section>
  )
}

function MemberRow({
  screen,
  member,
  isOwner,
  state,
}: {
  readonly screen: Screen
  readonly member: Member
  readonly isOwner: boolean
  /** Of the form that changes the role. */
  readonly state: FormState
}) {
  const { user, role } = member
  const isSelf = user.id === screen.user.id
  const chosen = state.fields.get('role') ?? role
  return (
    <li id={user.id}>
      <span>
        {user.name}{' '}
        <span class="row-facts">
          {user.email}
          {user.emailProvenAt === null ? ` · ${unprovenNote}` : ''}
        </span>
      </span>
      <span class="actions">
        {isOwner ? (
          <form
            method="post"
            action={screen.path(`people/${user.id}/role?page=${pageNumber(screen.c.req.query('page'))}`)}
            class="actions"
          >
            <input type="hidden" name="previousRole" value={role} />
            {chosen === role ? null : (
              <span class="hint">
                <CurrentValue>{roleNames[role]}</CurrentValue>
              </span>
            )}
            <select name="role" aria-label={`Role of ${user.name}`}>
              {roleChoices.map(({ value, text }) => (
                <option value={value} selected={value === chosen}>
                  {text}
                </option>
              ))}
            </select>
            <button type="submit" class="quiet">
              Save
            </button>
          </form>
        ) : (
          roleNames[role]
        )}
        {screen.user.isOperator && !isSelf ? <a href={screen.path(`people/${user.id}/reset`)}>Reset password</a> : null}
        {isOwner || isSelf ? <a href={screen.path(`people/${user.id}/remove`)}>{isSelf ? 'Leave' : 'Remove'}</a> : null}
      </span>
    </li>
  )
}

function Invitations({
  screen,
  invitations,
}: {
  readonly screen: Screen
  readonly invitations: readonly Invitation[]
}) {
  return (
    <section>
      <h2>Invitations</h2>
      <ul class="rows">
        {invitations.map(({ id, email, role, expiresAt }) => (
          <li id={id}>
            <span>
              {email}{' '}
              <span class="row-facts">
                {roleNames[role]} · until <Time at={expiresAt} zone={screen.zone} />
              </span>
            </span>
            <form method="post" action={screen.path(`people/invitations/${id}/revoke`)}>
              <button type="submit" class="quiet">
                Revoke
              </button>
            </form>
          </li>
        ))}
      </ul>
    </section>
  )
}

function InviteForm({ state }: { readonly state: FormState }) {
  return (
    <section>
      <h2>Invite a person</h2>
      <form method="post" class="stack" id="invite">
        <FormProblem state={state} fields={['email', 'role']} />
        <InputField label="Email" name="email" type="email" state={state} required autocomplete="off" />
        <SelectField label="Role" name="role" state={state} value="EDITOR" choices={roleChoices} />
        <ul class="hint">
          {Object.values(Role).map((role) => (
            <li>
              {roleNames[role]}: {roleDescriptions[role]}
            </li>
          ))}
        </ul>
        <p class="actions">
          <button type="submit">Invite</button>
        </p>
      </form>
    </section>
  )
}

async function showRemoval(screen: Screen, state: FormState): Promise<Response> {
  const id = screen.c.req.param('id')
  const member = (await membersOf(screen.ctx)).find(({ user }) => user.id === id)
  if (!member) throw new NotFound('Member not found.')
  const isSelf = member.user.id === screen.user.id
  const kept = screen.may('ADMIN') ? await keptCredentials(screen.ctx, member, null) : []
  const content = (
    <form method="post" class="stack">
      <p>
        {isSelf ? 'You lose' : `${member.user.name} loses`} access to {screen.organization.name} at once, and
        invitations that {isSelf ? 'you' : 'they'} made are revoked. Keys and read tokens go on working.
      </p>
      {kept.length === 0 ? null : <KeptCredentials {...{ screen, kept, isSelf }} />}
      <FormProblem state={state} />
      <p class="actions">
        <button type="submit" class="danger">
          {isSelf ? 'Leave' : 'Remove'}
        </button>{' '}
        <a href={screen.path('people')}>Cancel</a>
      </p>
    </form>
  )
  const title = isSelf ? `Leave ${screen.organization.name}` : `Remove ${member.user.name}`
  return screen.show({ title, section: 'people', content }, state)
}

function KeptCredentials({
  screen,
  kept,
  isSelf,
}: {
  readonly screen: Screen
  readonly kept: readonly KeptCredential[]
  readonly isSelf: boolean
}) {
  return (
    <>
      <p>
        {isSelf ? 'You' : 'They'} created these. <a href={screen.path('keys')}>Revoke the keys</a> that{' '}
        {isSelf ? 'you' : 'the person'} should not keep:
      </p>
      <ul>
        {kept.map(({ kind, name, prefix }) => (
          <li>
            {name} ({kind === 'API_KEY' ? `key ${prefix}…` : 'read token of a page'})
          </li>
        ))}
      </ul>
    </>
  )
}
