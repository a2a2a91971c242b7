-- Two more ways by which a member signs in (docs/decisions/0051). Global, like the members.

create table passkeys (
  id uuid primary key,
  member_id uuid not null,
  -- The id that the authenticator gave, in base64url. Two members cannot have the same.
  credential_id text collate "C" not null unique,
  -- The host name that it was made for. Browsers offer it there only, and the service accepts it there only.
  rp_id text collate "C" not null,
  public_key bytea not null,
  -- The name of the account inside the authenticator. It returns it with every sign-in.
  user_handle text collate "C" not null,
  -- Rises with each use, where the authenticator counts. One that does not rise is a copy.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);

create index passkeys_member on passkeys (member_id, created_at);

-- Challenges that were used, until they would have ended by themselves: each works once.
create table used_challenges (
  hash bytea primary key,
  expires_at timestamptz not null
);

create index used_challenges_expiry on used_challenges (expires_at);

-- A person whom an OpenID Connect provider knows. The issuer and its subject are the identity; an email is not.
create table member_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  member_id uuid not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  primary key (issuer, subject)
);

create index member_identities_member on member_identities (member_id);
