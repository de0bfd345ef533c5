#!/usr/bin/env bash
# Colab opens notebooks from branches of GitHub, not from Pages. The plain copies of the built book get a branch of their
# own, with one commit and no history; each publication replaces it. The launch buttons point there (tools/book.py).
# For the workflow, which sets BRANCH, TOKEN and GitHub's own variables.
set -euo pipefail
copies=$(mktemp -d)
cp -r _build/html/colab/. "$copies"
cd "$copies"
git init --quiet --initial-branch "$BRANCH"
git add --all
git -c user.name="github-actions[bot]" -c user.email="github-actions[bot]@users.noreply.github.com" \
  commit --quiet --message "Plain copies of $GITHUB_SHA"
git push --quiet --force "${REMOTE:-https://x-access-token:$TOKEN@${GITHUB_SERVER_URL#https://}/$GITHUB_REPOSITORY}" "$BRANCH"
