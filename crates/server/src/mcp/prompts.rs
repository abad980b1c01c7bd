//! A prompt for each board that is there from the start.

use plenary_domain::boardroom::preset::{BOARDS, Board};
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

pub fn list() -> Vec<Prompt> {
    BOARDS.iter().map(prompt).collect()
}

fn prompt(board: &Board) -> Prompt {
    let question = PromptArgument::new("question")
        .with_title("Question")
        .with_description("What the board should deliberate.")
        .with_required(true);
    let words = format!("Put a question to the {}: {}.", board.name, roles(board));
    Prompt::new(board.id, Some(words), Some(vec![question])).with_title(board.name)
}

fn roles(board: &Board) -> String {
    board.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ")
}

pub fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let Some(board) = BOARDS.iter().find(|board| board.id == name) else {
        let known: Vec<&str> = BOARDS.iter().map(|board| board.id).collect();
        let words = format!("There is no prompt {name:?}; available: {}.", known.join(", "));
        return Err(ErrorData::invalid_params(words, None));
    };
    let question = arguments.and_then(|all| all.get("question")).and_then(|text| text.as_str());
    let Some(question) = question.filter(|text| !text.trim().is_empty()) else {
        return Err(ErrorData::invalid_params("The prompt needs a `question`.", None));
    };
    let text = format!(
        "Convene the {} ({}) on the question below: call boardroom_convene with `board` \
         {:?} and the question as `prompt`, word for word. Then call session_wait with the \
         returned id, again and again until `over` is true. Then tell me the recommendation, where \
         the advisors agreed, where they did not, and whose view is missing, if anybody's.\n\n\
         Question:\n\n{}",
        board.name,
        roles(board),
        board.id,
        question.trim(),
    );
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description(format!("A question for the {}", board.name)))
}
