import {
  BroadcastIcon,
  CheckIcon as Check,
  ChecklistIcon,
  CommentIcon,
  CopyIcon as Copy,
  DeviceMobileIcon,
  EyeIcon as Eye,
  FilterIcon,
  GearIcon,
  GraphIcon,
  HomeIcon as Home,
  HubotIcon,
  type Icon,
  LogIcon,
  MegaphoneIcon,
  MoonIcon as Moon,
  PeopleIcon,
  PersonIcon as Person,
  ProjectIcon,
  SearchIcon as Search,
  ShieldLockIcon,
  SignOutIcon as SignOut,
  SunIcon as Sun,
  TagIcon,
  WebhookIcon,
  XIcon,
  ZapIcon
} from '@primer/octicons-react'

/** Icons stand beside or inside something that has a name, so screen readers skip them: an icon without a label is hidden. */
const decorative = (Drawing: Icon) => () => <Drawing size={16} />

export const AgentsIcon = decorative(HubotIcon)
export const ApprovalsIcon = decorative(ChecklistIcon)
export const AuditIcon = decorative(LogIcon)
export const CampaignsIcon = decorative(MegaphoneIcon)
export const CheckIcon = decorative(Check)
export const CopyIcon = decorative(Copy)
export const EyeIcon = decorative(Eye)
export const HomeIcon = decorative(Home)
export const LabIcon = decorative(DeviceMobileIcon)
export const LiveActivitiesIcon = decorative(BroadcastIcon)
export const MessagesIcon = decorative(CommentIcon)
export const MoonIcon = decorative(Moon)
export const PersonIcon = decorative(Person)
export const PrivacyIcon = decorative(ShieldLockIcon)
export const RemoveIcon = decorative(XIcon)
export const ProjectsIcon = decorative(ProjectIcon)
export const ResultsIcon = decorative(GraphIcon)
export const SearchIcon = decorative(Search)
export const SegmentsIcon = decorative(FilterIcon)
export const SettingsIcon = decorative(GearIcon)
export const SignOutIcon = decorative(SignOut)
export const SunIcon = decorative(Sun)
export const TopicsIcon = decorative(TagIcon)
export const TriggersIcon = decorative(ZapIcon)
export const UsersIcon = decorative(PeopleIcon)
export const WebhooksIcon = decorative(WebhookIcon)
