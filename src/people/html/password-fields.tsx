import type { FormState } from '../../http/page/form.tsx'
import { InputField } from '../../http/page/form.tsx'
import { MIN_PASSWORD_LENGTH } from '../password.ts'

interface Props {
  readonly state: FormState
  readonly label?: string
  readonly autofocus?: boolean
}

/** Renders the field for a new password. */
export function NewPasswordField({ label = 'Password', ...props }: Props) {
  return (
    <InputField
      label={label}
      name="password"
      type="password"
      required
      hint={`At least ${MIN_PASSWORD_LENGTH} characters.`}
      autocomplete="new-password"
      {...props}
    />
  )
}

/** Renders the field for the current password. */
export function PasswordField({ label = 'Password', name = 'password', ...rest }: Props & { readonly name?: string }) {
  return <InputField {...{ label, name }} type="password" {...rest} required autocomplete="current-password" />
}

/** Says what loses access to an account whose address is proven for the first time, or that changes hands. */
export function DroppedAccess() {
  return (
    <>
      Other ways to sign in that were added before are removed: the password, passkeys, the authenticator app and
      connected accounts. You’ll be signed out everywhere else.
    </>
  )
}
