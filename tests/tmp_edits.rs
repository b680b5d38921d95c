mod suite {
    mod edits;
}
