-- What a recipient of a campaign was sent: the variant, the language of its text and the step of a sequence. Null where
-- the campaign has none of these, and in rows of older versions.
alter table messages add column variant text;

alter table messages add column language text;

alter table messages add column step text;

-- The variants that were chosen as winners, by step; the key of a campaign without steps is empty. Null: none.
alter table campaigns add column winners jsonb;
