import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, InputField, UsernameField } from '../../http/page/form.tsx'
import type { OpenInvitation } from '../invitation.ts'
import { roleNames } from '../role.ts'
import { DroppedAccess, NewPasswordField } from './password-fields.tsx'

interface Props {
  readonly invitation: OpenInvitation
  readonly state: FormState
}

/** Renders the invitation for a signed-in person. @param needsPassword whether the person must choose a new password. */
export function AcceptInvitation({ invitation, state, needsPassword }: Props & { readonly needsPassword: boolean }) {
  return (
    <form method="post" class="stack">
      <Summary invitation={invitation} />
      <FormProblem state={state} fields={['password']} />
      {needsPassword ? (
        <>
          <p>
            Your account’s address has not been proven yet. To join, choose a new password. <DroppedAccess />
          </p>
          <UsernameField email={invitation.email} />
          <NewPasswordField label="New password" state={state} />
        </>
      ) : null}
      <p class="actions">
        <button type="submit">Join</button>
      </p>
    </form>
  )
}

/** Renders the invitation for a person without an account, or whose unproven account the mailed link makes theirs. */
export function JoinForm({ invitation, state }: Props) {
  return (
    <form method="post" class="stack">
      <Summary invitation={invitation} />
      <FormProblem state={state} fields={['name', 'password']} />
      <UsernameField email={invitation.email} />
      <InputField label="Your name" name="name" state={state} required autocomplete="name" maxlength={100} />
      <NewPasswordField state={state} />
      <p class="actions">
        <button type="submit">Create account and join</button>
      </p>
    </form>
  )
}

function Summary({ invitation }: Pick<Props, 'invitation'>) {
  return (
    <p class="lead">
      {invitation.email} is invited as {roleNames[invitation.role].toLowerCase()}.
    </p>
  )
}
